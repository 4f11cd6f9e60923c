/* A mutex as recipes/ and src/ build it, over an ensemble of which only what a client can observe is left.
 *
 * Each client joins once (protected_create), waits (queue_wait), holds (held_place), acts on a resource and leaves
 * (guaranteed_deletes); what ends its attempt without a result makes it join again. How much may go wrong is bounded by
 * the numbers below. Time is abstracted to what the deadline promises: while a client believes that it holds, the
 * servers do not end its session. Each name under "variants" breaks one rule of the protocol. tests/model/check says
 * what the model checker must find then.
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef LOSSES     /* requests or replies that are lost, and the connection with them */
#define LOSSES 1
#endif
#ifndef LAPSES     /* deadlines that pass */
#define LAPSES 1
#endif
#ifndef EXPIRIES   /* sessions that the servers end */
#define EXPIRIES 1
#endif
#ifndef STRIKES    /* znodes that an operator deletes */
#define STRIKES 0
#endif
#ifndef LATE       /* creates that are only thought lost, and wait in a server */
#define LATE 0
#endif
#ifndef CANCELS    /* clients that change their mind */
#define CANCELS 1
#endif

/* Variants: NO_GUID, NO_RESOLVE, LIST_ONLY, SYNC, GRANT_ON_NONODE, GRANT_FROM_AFAR, NO_RELIST, NO_REARM, NO_OWN_WATCH,
 * NO_PROOF, PAST_DEADLINE, NO_FENCE, UNGUARDED, DELETE_ONCE, LATE_CREATE_UNSEEN, LATE_ONE_GUID, DEEP_ANY_NAME,
 * DEEP_NAMED_WAITING, DIRECT_ANYBODY, DIRECT_WHILE_HELD, DIRECT_UNANSWERED. */

#define ZNODES (CLIENTS + LOSSES + EXPIRIES + STRIKES + LATE)
#define NEVER 255

/* ---- the ensemble ----
 * One log of creates and deletes. What a server knows is a beginning of it: the leader what is committed, the other
 * server any part of that. The latter stands for a follower that lags and for a leader that was deposed. A write that
 * changes nothing has its place behind all that was proposed before it, and needs none of its own here.
 */
byte proposed = 1;          /* something was there before */
byte committed = 1;
byte lagging = 1;

/* Numbered in the order of their creates: the number is the sequence, and as good a token as the czxid. */
byte znodes = 0;
byte born[ZNODES];          /* where in the log */
byte died[ZNODES];
byte owner[ZNODES];
byte guid[ZNODES];          /* of the owner's creates */
bool doomed[ZNODES];        /* handed to the guaranteed deletes */
byte dooms = 0;
#ifdef DEEP
byte named[ZNODES];         /* where in the log the directory was made to name it as the first; NEVER: it was not */
#endif

#ifdef DIRECT
/* A holder has told the one behind it that it holds no more. The message may be late or come twice for ever: it is there
 * from then on. That it is lost is the same as that it is ignored. */
bool told[ZNODES];
#define has_told(z) told[z]
#else
#define has_told(z) false
#endif

bool opened[CLIENTS];       /* the session, as the leader knows it */
byte losses = 0, lapses = 0, expiries = 0, strikes = 0, cancels = 0;

#define visible(z, beginning) (born[z] < beginning && died[z] >= beginning)
#define alive(z) (died[z] == NEVER)

/* queue_front: a holder leaves its name, and a later name does not make an earlier one wrong. A client that reads an
 * old one has no worse a chance than here, where it may take any that its server knows. */
#ifdef DEEP_ANY_NAME
#define names(z, beginning) (named[0] < beginning || named[1] < beginning || named[2] < beginning)
#else
#define names(z, beginning) (named[z] < beginning)
#endif
#define first_by_name(z) (z != NEVER && died[z] < known(me) && died[mine] >= known(me) && names(z, known(me)))

inline leave_name(z) {
    if
    :: alive(z) && named[z] == NEVER -> named[z] = proposed; proposed++
    :: true                     /* the request is lost, or refused */
    fi
}

inline remove(z) { died[z] = proposed; proposed++ }

/* ---- what a client knows ---- */
#define UNPROVEN 0
#define ASKED 1             /* a write was proposed, and the deadline that it may give is ahead */
#define PROVEN 2            /* it was answered */
byte faith[CLIENTS];
bool held[CLIENTS];         /* hold::valid() */
byte own[CLIENTS];
byte seen[CLIENTS];         /* the last zxid: no server that knows less is connected to */
bool at_leader[CLIENTS];
byte started = 0, finished = 0;

#define known(c) (at_leader[c] -> committed : lagging)
#if CLIENTS == 2
#define somebody_lags (losses < LOSSES || !at_leader[0] || !at_leader[1])
#else
#define somebody_lags (losses < LOSSES || !at_leader[0] || !at_leader[1] || !at_leader[2])
#endif

byte last_granted = 0;      /* tokens */
byte highest = 0;           /* of all that had an effect: on the fenced resource, or by a guarded transaction */

/* An operator's delete ends a hold only when the holder is told of it; but nothing is granted that was told gone. */
#define struck(c) (!alive(own[c]) && died[own[c]] >= seen[c] && opened[c])

/* A request or an answer is lost, and the connection with it: the session goes on at some server that knows as much. */
inline lose() {
    losses < LOSSES -> losses++;
    if
    :: at_leader[me] = true
    :: at_leader[me] = false
    fi
}
#define connected (known(me) >= seen[me])

/* A guaranteed delete. The first attempt arrives at once or is lost; it is the same if only the answer is. */
inline doom(z) {
    if
    :: !alive(z) || doomed[z]
    :: alive(z) && !doomed[z] -> remove(z)
    :: alive(z) && !doomed[z] && losses < LOSSES -> losses++;
#ifndef DELETE_ONCE
        doomed[z] = true; dooms++
#endif
    fi
}

/* ---- what must never be, each asserted where it could first be seen; progress is at the end ---- */
hidden byte overlap;            /* two believe that they hold */
hidden byte token_went_back;
hidden byte stale_effect;       /* of an earlier holder on the resource */
hidden byte stale_commit;       /* of a guarded transaction, while somebody is ahead or after a later one */
hidden byte orphan;             /* a znode that nobody wants and nobody deletes */
hidden byte too_many;           /* more creates than faults explain */

#if LATE
/* A server forgets nothing, and does what it was asked in order: what waited there comes before what is asked now. Only
 * while the session is at another server it would be refused. */
byte late = 0;
byte waits[CLIENTS];        /* the guid of a create that waits */
bool waits_at_leader[CLIENTS];
#define arrives(c) (waits[c] != 0 && opened[c] && at_leader[c] == waits_at_leader[c])

inline arrive(c) {
    too_many = znodes == ZNODES; assert(!too_many);
    owner[znodes] = c; guid[znodes] = waits[c]; born[znodes] = proposed; proposed++; znodes++;
    waits[c] = 0
}

inline arrive_first() {
    if
    :: arrives(me) -> arrive(me)
    :: arrives(me) -> waits[me] = 0                 /* it was lost after all */
    :: !arrives(me)
    fi
}
#else
#define arrive_first() skip
#endif

inline ask() { faith[me] = (faith[me] == UNPROVEN -> ASKED : faith[me]) }
inline answered() { faith[me] = (faith[me] == ASKED -> PROVEN : faith[me]) }

/* delete_late_creates(): znodes of earlier creates, which were thought lost. */
inline delete_late() {
#if LATE && !defined(LATE_CREATE_UNSEEN)
    d_step {
        z = 0;
        do
        :: z == znodes -> break
        :: z < znodes ->
            if
            :: visible(z, known(me)) && owner[z] == me && guid[z] != attempt && alive(z) && !doomed[z] ->
                doomed[z] = true; dooms++
            :: else
            fi;
            z++
        od;
        z = 0
    }
#else
    skip
#endif
}

/* decide(): who is ahead, from a list. */
inline list() {
    d_step {
        seen[me] = known(me);
        ahead = 0; before = NEVER; z = 0;
        do
        :: z == znodes -> break
        :: z < znodes && !visible(z, seen[me]) -> z++
        :: z < znodes && visible(z, seen[me]) ->
            if
            :: z < mine -> before = z; ahead++
            :: else
            fi;
            z++
        od;
        z = 0
    }
}

proctype client(byte me) {
    byte mine = NEVER, before = NEVER, ahead = 0, upto = 0, z = 0, attempt = 0;
    bool abandoned = false;

    /* Clients differ in nothing: numbered in the order in which they begin. */
    atomic { started == me -> started++; goto begin };
begin:
    atomic {
        mine = NEVER; before = NEVER; ahead = 0;
        attempt++;
#if LATE
        waits[me] = (opened[me] -> waits[me] : 0);
#endif
        opened[me] = true
    }

    /* ---- protected_create ---- */
create:
    if
    :: atomic { !opened[me] -> goto begin }
    :: atomic { opened[me] ->
        arrive_first();
        too_many = znodes == ZNODES; assert(!too_many);
        mine = znodes; znodes++;
        owner[mine] = me; guid[mine] = attempt; born[mine] = proposed; proposed++;
        ask() }
    :: atomic { lose() -> goto unknown }
#if LATE
    :: atomic { late < LATE && losses < LOSSES && waits[me] == 0 ->
        late++; waits[me] = attempt; waits_at_leader[me] = at_leader[me];
        lose() -> goto unknown }
#endif
    fi;
    if
    :: atomic { known(me) > born[mine] -> answered(); list(); goto judge }
    :: atomic { lose() -> goto unknown }
    :: atomic { cancels < CANCELS && !abandoned -> cancels++; abandoned = true; goto unknown }
    fi;

unknown:
    atomic {
        mine = NEVER;
#ifdef NO_RESOLVE
        if
        :: abandoned -> goto out
        :: else
        fi
#endif
    }
#ifdef NO_GUID
    goto create;
#endif
resolve:
    if
    :: atomic { connected && !opened[me] ->
        if
        :: abandoned -> goto out
        :: else -> goto begin
        fi }
    :: atomic { connected && opened[me] ->
#ifdef LIST_ONLY
        upto = 0
#else
#ifdef SYNC
        upto = (at_leader[me] -> 0 : proposed)
#else
        arrive_first();
        upto = proposed; ask()
#endif
#endif
        }
    fi;
    if
    :: atomic { known(me) >= upto ->
        upto = 0;
#ifndef LIST_ONLY
#ifndef SYNC
        answered();
#endif
#endif
        delete_late();
        d_step {
            seen[me] = known(me); z = 0;
            do
            :: z < znodes && !(visible(z, seen[me]) && owner[z] == me && guid[z] == attempt) -> z++
            :: else -> break
            od;
            mine = (z < znodes -> z : NEVER); z = 0
        };
        if
        :: mine == NEVER && abandoned -> goto out
        :: mine == NEVER && !abandoned ->
#ifndef LATE_ONE_GUID
            attempt++;
#endif
            goto create
        :: mine != NEVER && abandoned -> doom(mine); goto out
        :: mine != NEVER && !abandoned -> list(); goto judge
        fi }
    :: atomic { lose() -> goto resolve }
    :: atomic { cancels < CANCELS && !abandoned -> cancels++; abandoned = true; goto resolve }
    fi;

    /* ---- queue_wait ---- */
judge:
    atomic {
        if
        :: !visible(mine, seen[me]) -> goto gone
        :: visible(mine, seen[me]) && ahead == 0 -> goto confirm
        :: visible(mine, seen[me]) && ahead > 0
        fi
    };
    /* Both watches are set by one round trip, by a server that may know more by now. */
    if
    :: atomic { !visible(mine, known(me)) && visible(before, known(me)) -> goto gone }
    :: atomic { !visible(before, known(me)) ->
#ifdef GRANT_ON_NONODE
        seen[me] = known(me); goto confirm
#else
        goto far
#endif
        }
    :: atomic { visible(mine, known(me)) && visible(before, known(me)) }
    :: atomic { lose() -> goto reconnected }
    fi;
wait:
    /* Events of one connection come in the order of what happened, and are looked at one by one. */
    if
#ifndef NO_OWN_WATCH
    :: atomic { known(me) > died[mine] && died[mine] < died[before] -> goto gone }
    :: atomic { known(me) > died[before] && died[before] < died[mine] ->
#else
    :: atomic { known(me) > died[before] ->
#endif
        seen[me] = died[before] + 1;
#ifdef GRANT_FROM_AFAR
        goto confirm
#else
        if
        :: ahead == 1 -> goto confirm
        :: else -> goto far
        fi
#endif
        }
#ifdef DIRECT
#ifdef DIRECT_ANYBODY
    :: atomic { (told[0] || told[1] || told[2]) && known(me) <= died[before] && known(me) <= died[mine] -> goto confirm }
#else
    :: atomic { told[before] && known(me) <= died[before] && known(me) <= died[mine] -> goto confirm }
#endif
#endif
    :: atomic { lose() -> goto reconnected }
    :: atomic { cancels < CANCELS -> cancels++; doom(mine); goto out }
#ifdef DEEP_NAMED_WAITING
    :: atomic { alive(mine) && named[mine] == NEVER -> named[mine] = proposed; proposed++; goto wait }
#endif
    fi;
far:
#ifdef DEEP
    if
    :: atomic { connected && first_by_name(before) -> seen[me] = known(me); goto confirm }
    :: true
    fi;
#endif
    goto relist;

reconnected:
    connected;
#ifdef DEEP
    if
    :: atomic { connected && first_by_name(before) -> seen[me] = known(me); goto confirm }
    :: true
    fi;
#endif
#ifdef NO_RELIST
    /* What was missed is replayed, in no useful order. */
    if
    :: atomic { known(me) > died[before] -> seen[me] = known(me); goto confirm }
    :: atomic { known(me) > died[mine] -> goto gone }
    :: atomic { known(me) <= died[before] && known(me) <= died[mine] -> goto wait }
    fi;
#endif
#ifdef NO_REARM
    /* Nobody tells what was missed, nor what comes now. */
    if
    :: atomic { known(me) > died[mine] -> goto gone }
    :: atomic { cancels < CANCELS -> cancels++; doom(mine); goto out }
    fi;
#endif
#if LATE && !defined(LATE_CREATE_UNSEEN)
    /* On each connection a write, and a list behind it. */
    if
    :: atomic { !opened[me] -> goto gone }
    :: atomic { opened[me] -> arrive_first(); upto = proposed }
    fi;
    if
    :: atomic { known(me) >= upto -> upto = 0; delete_late() }
    :: atomic { lose() -> upto = 0; goto reconnected }
    fi;
#endif
relist:
    atomic { connected -> list(); goto judge };

gone:
    atomic { doom(mine); goto begin };

confirm:
    atomic {
        ahead = 0; before = NEVER;
        if
#ifdef NO_PROOF
        :: goto granted
#endif
        :: faith[me] == PROVEN -> goto granted
        :: faith[me] != PROVEN && !alive(mine) -> goto gone
        :: faith[me] != PROVEN && alive(mine) -> arrive_first(); upto = proposed; ask()
        :: cancels < CANCELS -> cancels++; doom(mine); goto out
        fi
    };
    if
    :: atomic { known(me) >= upto -> upto = 0; answered(); goto confirm }
    :: atomic { lose() -> upto = 0; goto reconnected }
    fi;

    /* ---- held_place ---- */
granted:
    atomic {
#ifndef NO_PROOF
        if
        :: faith[me] != PROVEN -> goto confirm
        :: else
        fi;
#endif
        held[me] = true; own[me] = mine;
        z = 0;
        do
        :: z == CLIENTS -> break
        :: z < CLIENTS ->
            overlap = z != me && held[z] && !struck(z) && !struck(me); assert(!overlap);
            z++
        od;
        z = 0;
        token_went_back = mine + 1 <= last_granted && !struck(me); assert(!token_went_back);
        last_granted = (mine + 1 > last_granted -> mine + 1 : last_granted);
#ifdef DEEP
        leave_name(mine)
#endif
#ifdef DIRECT_WHILE_HELD
        told[mine] = true
#endif
    };
    /* Between a look at valid() and its effect a process may stand still for ever. */
    atomic {
        if
#ifndef NO_FENCE
        :: mine + 1 < highest       /* refused */
        :: mine + 1 >= highest ->
#else
        :: true ->
#endif
            stale_effect = mine + 1 < highest; assert(!stale_effect);
            highest = mine + 1
        fi;
#ifdef DIRECT_UNANSWERED
        held[me] = false; told[mine] = true
    };
    atomic {
#endif
        if
#ifndef UNGUARDED
        :: !alive(mine)             /* the check failed */
        :: alive(mine) ->
#else
        :: true ->
#endif
            z = 0;
            do
            :: z < mine -> stale_commit = alive(z) && !has_told(z) && owner[z] != me; assert(!stale_commit); z++
            :: else -> break
            od;
            z = 0;
            stale_commit = mine + 1 < highest; assert(!stale_commit);
            highest = mine + 1
        fi;
#ifdef DIRECT
        /* The datagram is faster than the delete. */
        if
        :: held[me] -> held[me] = false; told[mine] = true
        :: else
        fi
    };
    atomic {
#endif
        held[me] = false; own[me] = 0; doom(mine)
    };
out:
    /* What is not needed any more is forgotten: fewer states. */
    atomic {
        mine = NEVER; before = NEVER; ahead = 0; upto = 0; attempt = 0; abandoned = false;
#if LATE
        if
        :: waits[me] == 0 -> opened[me] = false
        :: else                                     /* it may come yet */
        fi;
#else
        opened[me] = false; at_leader[me] = true;
#endif
        faith[me] = UNPROVEN; seen[me] = 0;
        finished++
    }
}

/* ---- whatever happens to the clients ---- */
proctype world() {
    byte z = 0, c = 0;
end:
    do
    :: atomic { committed < proposed -> committed++ }
    :: atomic { lagging < committed ->
        lagging = (somebody_lags -> lagging + 1 : committed);
        /* What everybody knows needs no details: fewer states. */
        d_step {
            do
            :: z == znodes -> break
            :: z < znodes ->
                born[z] = (born[z] < lagging -> 0 : born[z]);
                owner[z] = (died[z] < lagging -> 0 : owner[z]);
                guid[z] = (died[z] < lagging -> 0 : guid[z]);
#ifdef DEEP
                named[z] = (named[z] < lagging -> 0 : named[z]);
#endif
                z++
            od;
            z = 0
        } }

#if LATE
    :: atomic { arrives(0) -> arrive(0) }
    :: atomic { arrives(1) -> arrive(1) }
#endif

    /* A deadline passes: the hold is lost, whatever the servers think. */
    :: atomic { lapses < LAPSES ->
        lapses++;
        select(c : 0 .. CLIENTS - 1);
        faith[c] = UNPROVEN;
#ifndef PAST_DEADLINE
        held[c] = false;
#endif
        c = 0 }

    /* The servers end a session, once no deadline of its client can be ahead. */
    :: atomic { expiries < EXPIRIES ->
        expiries++;
        select(c : 0 .. CLIENTS - 1);
        if
        :: !opened[c] || faith[c] != UNPROVEN
        :: opened[c] && faith[c] == UNPROVEN ->
            opened[c] = false;
#if LATE
            waits[c] = 0;
#endif
            z = 0;
            do
            :: z == znodes -> break
            :: z < znodes ->
                died[z] = (owner[z] == c && alive(z) -> proposed : died[z]);
                z++
            od;
            z = 0; proposed++
        fi;
        c = 0 }

    /* An operator deletes a znode. */
    :: atomic { strikes < STRIKES && znodes > 0 ->
        strikes++;
        select(z : 0 .. znodes - 1);
        if
        :: visible(z, committed) && alive(z) -> remove(z)
        :: else
        fi;
        z = 0 }

    /* A delete that was lost is sent again. */
    :: atomic { dooms > 0 ->
        z = 0;
        do
        :: !doomed[z] -> z++
        :: doomed[z] -> break
        od;
        if
        :: alive(z) -> remove(z); doomed[z] = false; dooms--
        :: !alive(z) -> doomed[z] = false; dooms--                      /* NONODE */
        :: losses < LOSSES -> losses++
        fi;
        z = 0 }
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < ZNODES ->
            died[i] = NEVER;
#ifdef DEEP
            named[i] = NEVER;
#endif
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < CLIENTS -> at_leader[i] = (i % 2 == 0); run client(i); i++
        :: else -> break
        od;
        i = 0;
        run world()
    };
#if LATE
#define awaited (arrives(0) || arrives(1))
#else
#define awaited false
#endif
    atomic { finished == CLIENTS && dooms == 0 && !awaited ->
        do
        :: i < znodes -> orphan = alive(i); assert(!orphan); i++
        :: else -> break
        od }
}

#ifdef PROGRESS
ltl progress { <> (finished == CLIENTS && dooms == 0) }
#endif
