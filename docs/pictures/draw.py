#!/usr/bin/env python3
"""Draws the pictures beside this file. Usage: draw.py [--check]

--check writes nothing and fails if a picture differs from what this file draws, or if this file does not draw it."""
import pathlib
import sys

sys.dont_write_bytecode = True
from svg import BLUE, GREEN, GREY, INK, RED, Lanes, Picture  # noqa: E402


def queue():
    p = Picture("queue", 404, "The queue of a lock",
                "Left: the holder is number 7, waiters are 8, 9 and 10. Each waiter watches its predecessor and its own "
                "znode. Right: number 7 is deleted, one event goes to 8, which is the holder now. 9 and 10 notice nothing.")
    for left, heading in ((20, "Waiting"), (334, "A release")):
        p.text(left, 34, heading, bold=True, size=18)
        for i, name in enumerate(("7", "8", "9", "10")):
            y = 56 + i * 72
            released = left > 20 and i == 0
            holder = i == 0 if left == 20 else i == 1
            color = GREY if released else GREEN if holder else BLUE
            p.box(left + 30, y, 176, 52, color, dashed=released)
            p.text(left + 40, y + 21, "lock-%010d" % int(name), GREY if released else INK, mono=True)
            p.text(left + 40, y + 43, "deleted" if released else "holder" if holder else "waiter", color)
            if not released:  # its own znode
                p.path(f"M{left + 30} {y + 14} C {left + 4} {y + 6}, {left + 4} {y + 46}, {left + 27} {y + 38}", GREY)
            if i > (0 if left == 20 else 1):
                p.path(f"M{left + 206} {y + 20} C {left + 248} {y + 20}, {left + 248} {y - 34}, {left + 208} {y - 34}", BLUE)
                p.text(left + 244, y - 4, "watch", BLUE)
            elif i == 1:
                p.path(f"M{left + 206} {y - 46} C {left + 248} {y - 46}, {left + 248} {y + 16}, {left + 208} {y + 16}", RED, 2.5)
                p.text(left + 244, y - 4, "event", RED)
    p.text(20, 364, "Each waiter watches two znodes:", INK)
    p.text(20, 384, "its predecessor and its own.", INK)
    p.text(334, 364, "One deletion sends one event:", INK)
    p.text(334, 384, "8 holds now. 9 and 10 get none.", INK)
    return p


def validity():
    p = Picture("validity", 452, "Until when a hold is valid",
                "Holder A sends writes at 0, 1/7, 2/7 and 3/7 of T. All are answered, then no more answers come. The "
                "fourth answer proves that the servers' leader has heard of the first write, sent at s. So the deadline "
                "of A is s + T, less two percent. The servers end the session later, at s + T or after it. Only then is "
                "B granted.")
    begin, t = 108, 380
    deadline, end, grant = begin + 0.98 * t, begin + t + 46, begin + t + 62
    holder, servers, waiter = 118, 218, 318

    p.text(16, 90, "Holder A", bold=True)
    p.add("rect", x=begin, y=holder - 14, width=deadline - begin, height=26, rx=3, fill="#dff3e4", stroke=GREEN,
          stroke_width=1.5)
    p.text(begin + 280, holder + 5, "valid() is true", GREEN, "middle", bold=True)
    p.add("rect", x=deadline, y=holder - 14, width=624 - deadline, height=26, rx=3, fill="#fbe4e2", stroke=RED,
          stroke_width=1.5)
    p.text((deadline + 624) / 2, holder + 5, "valid() is false", RED, "middle", bold=True)

    p.text(16, servers + 42, "Servers", bold=True)
    p.add("rect", x=16, y=servers - 8, width=end - 16, height=26, rx=3, fill="#e3edf9", stroke=BLUE, stroke_width=1.5)
    p.text(begin + 280, servers + 11, "A's session lives", BLUE, "middle", bold=True)
    p.text(end, servers + 42, "session ends", RED, "middle")
    p.line(end, servers - 14, end, servers + 24, RED, 3)

    p.text(16, waiter - 12, "Waiter B", bold=True)
    p.add("rect", x=16, y=waiter, width=grant - 16, height=26, rx=3, fill="#eeeeee", stroke=GREY, stroke_width=1.5)
    p.text(begin + 280, waiter + 19, "waits", GREY, "middle")
    p.add("rect", x=grant, y=waiter, width=624 - grant, height=26, rx=3, fill="#dff3e4", stroke=GREEN, stroke_width=1.5)
    p.text((grant + 624) / 2, waiter + 19, "holds", GREEN, "middle", bold=True)
    p.path(f"M{end} {servers + 50} L{grant} {waiter - 3}", RED, 2)

    for i in range(4):  # heartbeats, every T/7
        x = begin + i * t / 7
        p.line(x, holder + 14, x + 11, servers - 10, BLUE, 2, arrow=True)
        p.line(x + 13, servers - 10, x + 24, holder + 14, BLUE, 2, arrow=True)
        p.dot(x, holder + 12, BLUE)
    x = begin + 4 * t / 7
    p.line(x, holder + 14, x + 8, holder + 54, RED, 2)
    p.cross(x + 9, holder + 60)
    p.text(x + 24, holder + 64, "no more answers", RED)

    p.line(begin, 46, begin, holder - 16, INK, 1.5, dashed=True)
    p.line(deadline, 46, deadline, holder - 16, RED, 1.5, dashed=True)
    p.line(begin, 56, deadline, 56, INK, 2, both=True)
    p.text((begin + deadline) / 2, 46, "T, less 2 % for clocks", INK, "middle")
    p.text(begin, 36, "s", INK, "middle", bold=True)
    p.text(deadline, 36, "deadline", RED, "middle", bold=True)

    p.text(16, 386, "A writes every T/7. The answer to the fourth write proves that\n"
                    "the servers' leader knew of the first, sent at s. So the leader ends\n"
                    "the session at s + T or later, and A's deadline is before that.", INK)
    return p


def client_states():
    p = Picture("client-states", 500, "The states of a client",
                "connecting to connected with the first session. connected or reconnected to suspended when the "
                "connection is gone. suspended to reconnected within the same session. suspended to lost when the session "
                "has ended or the deadline of a hold has passed. lost to connected with a new session, or to reconnected if "
                "the session proves to be alive. Every state to closed by close().")
    states = (("connecting", 24, 30, GREY, "no session yet"),
              ("connected", 396, 30, GREEN, "a new session"),
              ("suspended", 24, 168, BLUE, "valid until deadlines"),
              ("reconnected", 396, 168, GREEN, "the same session"),
              ("lost", 24, 322, RED, "every hold is lost"),
              ("closed", 396, 322, GREY, "by close(), final"))
    for name, x, y, color, sub in states:
        p.box(x, y, 204, 58, color)
        p.text(x + 102, y + 24, name, color if color != GREY else INK, "middle", bold=True, size=18)
        p.text(x + 102, y + 46, sub, INK, "middle")
    p.line(228, 59, 394, 59, INK, 2, arrow=True)
    p.text(311, 51, "first session", INK, "middle")
    p.line(396, 84, 226, 170, INK, 2, arrow=True)
    p.text(311, 134, "connection gone", INK, "middle", halo=True)
    p.line(228, 186, 394, 186, INK, 2, arrow=True)
    p.text(311, 179, "same session", INK, "middle", halo=True)
    p.line(396, 208, 230, 208, INK, 2, arrow=True)
    p.text(311, 227, "connection gone", INK, "middle")
    p.line(80, 226, 80, 320, RED, 2, arrow=True)
    p.text(92, 258, "session ended, or the", RED)
    p.text(92, 278, "deadline of a hold passed", RED)
    p.line(228, 338, 440, 229, INK, 2, arrow=True)
    p.text(340, 296, "session alive after all", INK)
    p.path("M126 380 L126 408 L622 408 L622 59 L603 59", INK, 2)
    p.text(374, 428, "new session", INK, "middle")
    p.text(24, 460, "The deadline of a hold can also pass while the client is connected,\n"
                    "if no write is answered. Then lost follows from there.", INK)
    p.text(348, 340, "from any", INK, "middle")
    p.line(310, 352, 394, 352, INK, 2, arrow=True)
    return p


THREE = {"a": "Holder A", "s": "Servers", "b": "Waiter B"}


def kill():
    p = Lanes("kill", 440, "A holder is killed",
              "Holder A is killed. Its connection closes and its session lives on. After T without a sign of life the servers "
              "end the session and delete A's znode. B receives one event and is granted, with a higher token.", THREE)
    p.bar("a", 54, 140, GREEN)
    p.note("a", 68, "holds the lock,\ntoken 41", GREEN)
    p.bar("s", 54, 308, BLUE)
    p.note("s", 68, "A's session lives", BLUE)
    p.bar("b", 54, 360, GREY)
    p.note("b", 68, "waits: watches\nthe znode of A", GREY)
    p.message("a", 112, "s", 124, BLUE)
    p.note("s", 124, "last sign of life", INK)
    p.cross(p.x["a"] + 7, 148)
    p.note("a", 148, "killed, or the\nmachine fails", RED, bold=True)
    x = p.x["s"] + 34
    p.line(x, 138, x, 296, INK, 1.5, both=True)
    p.text(x + 12, 196, "T, and at most\n1.5 ticks more", INK)
    p.tick("s", 308)
    p.note("s", 312, "session ends:\nA's znode is deleted", RED)
    p.message("s", 348, "b", 360, RED)
    p.bar("b", 360, 424, GREEN)
    p.note("b", 372, "granted,\ntoken 57", GREEN, bold=True)
    return p


def pause():
    p = Lanes("pause", 560, "A holder is stopped and resumes",
              "Holder A is stopped before a write. Its deadline passes, its session ends, B is granted with token 57 and "
              "writes. A resumes: valid() is false, and the store refuses the late write with token 41.",
              {"a": "Holder A", "s": "Servers", "b": "Waiter B", "r": "Store"})
    p.bar("a", 54, 124, GREEN)
    p.note("a", 68, "holds,\ntoken 41", GREEN)
    p.bar("s", 54, 286, BLUE)
    p.note("s", 68, "A's session\nlives", BLUE)
    p.bar("b", 54, 322, GREY)
    p.note("b", 68, "waits", GREY)
    p.bar("a", 124, 440, GREY, hatched=True)
    p.note("a", 138, "is stopped\nin a write", RED, bold=True)
    p.tick("a", 222)
    p.note("a", 226, "deadline:\nvalid() turns\nfalse", RED)
    p.tick("s", 286)
    p.note("s", 290, "session ends", RED)
    p.message("s", 298, "b", 320, RED)
    p.bar("b", 322, 536, GREEN)
    p.note("b", 334, "granted,\ntoken 57", GREEN, bold=True)
    p.message("b", 390, "r", 398, GREEN, "write, 57", reach=7)
    p.note("r", 398, "accepted:\nhighest is 57", GREEN)
    p.bar("a", 440, 536, RED)
    p.note("a", 446, "resumes", RED, bold=True)
    p.message("a", 480, "r", 492, RED, "late write, 41", reach=7)
    p.cross(p.x["r"] + 7, 493)
    p.note("r", 500, "refused:\n41 < 57", RED, bold=True)
    p.note("a", 508, "asks valid():\nfalse", RED)
    return p


def partition():
    p = Lanes("partition", 530, "A holder is cut off from the servers",
              "Holder A is cut off. Its client is suspended and the hold stays valid until the deadline. Then valid() is false "
              "and lost() is requested. Later the servers end the session, and B is granted. When the network is back, A "
              "gets a new session and may acquire again, at the tail of the queue.", THREE)
    p.bar("a", 54, 246, GREEN)
    p.note("a", 68, "holds the lock,\ntoken 41", GREEN)
    p.bar("s", 54, 330, BLUE)
    p.note("s", 68, "A's session lives", BLUE)
    p.bar("b", 54, 382, GREY)
    p.note("b", 68, "waits: watches\nthe znode of A", GREY)
    p.message("a", 112, "s", 120, BLUE)
    p.note("s", 120, "last sign of life", INK)
    p.message("a", 138, "s", 146, RED, arrives=False)
    p.note("a", 176, "suspended: valid,\nbut begin nothing", BLUE, bold=True)
    p.tick("a", 246)
    p.note("a", 250, "deadline: lost,\nvalid() is false,\nlost() requested", RED, bold=True)
    p.bar("a", 246, 514, RED)
    x = p.x["s"] + 34
    p.line(x, 134, x, 318, INK, 1.5, both=True)
    p.text(x + 12, 204, "T, and at most\n1.5 ticks more", INK)
    p.tick("s", 330)
    p.note("s", 334, "session ends:\nA's znode is deleted", RED)
    p.message("s", 370, "b", 382, RED)
    p.bar("b", 382, 514, GREEN)
    p.note("b", 394, "granted,\ntoken 57", GREEN, bold=True)
    p.message("s", 424, "a", 436, BLUE)
    p.note("s", 424, "network is back", BLUE)
    p.note("a", 462, "connected, with a\nnew session; may\nqueue at the tail", INK)
    return p


PICTURES = (queue, validity, client_states, kill, pause, partition)


def main():
    folder = pathlib.Path(__file__).resolve().parent
    drawn = {f"{p.name}.svg": str(p) for p in (draw() for draw in PICTURES)}
    if sys.argv[1:] == ["--check"]:
        here = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.svg")}
        differ = sorted(name for name in drawn.keys() | here.keys() if drawn.get(name) != here.get(name))
        for name in differ:
            print(f"docs/pictures/{name} is not what draw.py draws: edit draw.py and run it")
        return 1 if differ else 0
    if sys.argv[1:]:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 64
    for name, text in drawn.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
