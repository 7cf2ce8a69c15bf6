import{ln as e}from"./base-B-8-fAFC.js";import{createHash as t}from"node:crypto";const n=class e{#e;constructor(e){this.#e=e}static template(t,...n){return new e(t.reduce((t,r,i)=>`${t}${e.#t(n[i-1])}${r}`))}static#t(t){return t===void 0?``:t instanceof e?t.#e:typeof t==`object`?t.map(t=>e.#t(t)).join(``):r(String(t))}toString(){return this.#e}}.template;function r(t){return e(t).replaceAll(/[&<>"']/g,e=>`&#${e.charCodeAt(0)};`)}function i(e,r,i=``){let o=`${a}${i}`;return`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${t(`sha256`).update(o).digest(`base64`)}'; base-uri 'none'; form-action 'none'">
<title>${n`${e}`}</title><style>${o}</style></head>
<body>
${r}
</body></html>
`}const a=`
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2126;--dim:#5b6570;--line:#d8dee4;--card:#f6f8fa;--bar:#0b6e8f;--bad:#b42318;--wait:#c9d1d9;
--a0:#0b6e8f;--a1:#8a3fa8;--a2:#8a5a00;--a3:#2f55c8;--a4:#1f7a3a;--a5:#b0306b;--a6:#6b6b00;--a7:#0f766e}
@media(prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e3e8ee;--dim:#9aa5b1;--line:#323a44;--card:#1c222a;--bar:#5fd7ff;--bad:#ff8f85;--wait:#48525e;
--a0:#5fd7ff;--a1:#d9a2ff;--a2:#ffb86b;--a3:#9db8ff;--a4:#8fdc9b;--a5:#ff9bd2;--a6:#dede7a;--a7:#6fe0c0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:0 0 .5rem}h2{font-size:1.1rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
.dim,dt,time{color:var(--dim)}time{font-size:.85rem;font-variant-numeric:tabular-nums}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0;font-size:.92rem}dl.facts dd{margin:0}
pre,code{font:13.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.5rem 0;padding:.6rem .8rem;background:var(--card);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;max-height:32rem;overflow:auto}
code{background:var(--card);padding:.08em .3em;border-radius:4px}
.prompt{margin:1.8rem 0 .8rem;padding:.6rem .9rem;border-left:4px solid var(--bar);background:var(--card);white-space:pre-wrap}
.note{margin:1rem 0;padding:.3rem .9rem;border-left:4px solid var(--line)}.note.bad{border-color:var(--bad)}
.heading{font-weight:700;margin:1.2rem 0 .4rem}blockquote{margin:.5rem 0;padding-left:.9rem;border-left:3px solid var(--line);color:var(--dim)}
details{margin:.3rem 0}summary{cursor:pointer}summary .name{font-weight:600}.bad{color:var(--bad)}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0;font-size:.92rem}th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}.right{text-align:right}.center{text-align:center}
.scale{display:flex;justify-content:space-between;font-size:.8rem;color:var(--dim);margin-left:15rem}
.run{display:grid;grid-template-columns:14rem 1fr;gap:0 1rem;align-items:center;padding:.25rem 0;border-top:1px solid var(--line)}
.run>.who{font-size:.9rem}.run>.figures{grid-column:2;font-size:.85rem;color:var(--dim)}
.run svg{display:block;width:100%;height:1.5rem}.run details{grid-column:1/-1}
rect.wait{fill:var(--wait)}rect.call{fill:var(--bg);opacity:.55}
${[0,1,2,3,4,5,6,7].map(e=>`.c${e}{color:var(--a${e})}rect.c${e}{fill:var(--a${e})}`).join(``)}
.legend{font-size:.85rem}.legend svg{width:1.4rem;height:.8rem;vertical-align:baseline}
@media(max-width:640px){body{padding:1rem .75rem 3rem}.run{grid-template-columns:1fr}.run>.figures{grid-column:1}.scale{margin-left:0}dl.facts{grid-template-columns:1fr}dl.facts dd{margin-bottom:.3rem}}
@media print{pre{max-height:none}}
`;export{n,i as t};