// Before anything is drawn: the theme that was chosen here, if it is not that of the system.
"use strict";
try {
    const chosen = localStorage.getItem("latchkey-theme");
    if (chosen === "light" || chosen === "dark") {
        document.documentElement.dataset.theme = chosen;
    }
} catch {
    // Storage may be forbidden.
}
