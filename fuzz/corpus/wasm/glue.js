const a = `x${"b.wasm"}`; /re[/]/.test(a) / 2; // "c"
