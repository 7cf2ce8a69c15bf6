import{Mn as e}from"./session-CLbk7yKF.js";import{zt as t}from"./base-B-8-fAFC.js";import{a as n,i as r,n as i,o as a,r as o}from"./arguments-B-0rmsmv.js";const s=r.completion.verbs,c=`mini-cc completion ${s.join(`|`)}`;function l({verb:n,words:r}){if(n===``)throw new t(`completion: say for which shell: ${c}`);if(r.length>0)throw new t(`completion ${n}: ${r[0]} is too much: ${c}`);let i=Object.hasOwn(f,n)?f[n]:void 0;if(!i)throw e(`mini-cc completion`,n,s.join(`, `));return{exitCode:0,stdout:i(u()),stderr:``}}function u(){return Object.keys(i).map(e=>{let{help:t,shortFlag:r,valueName:o,choices:s=[]}=i[e],c=o===`FILE`;return{spellings:[a(e),...r===void 0?[]:[`-${r}`]],long:a(e).slice(2),short:r,help:t,uses:n(e),...o!==void 0&&{value:{name:o,choices:s,isFile:c,isFolder:o===`DIR`}}}})}function d(e){return r[e].verbs.flatMap(e=>e.split(` `)[0].split(`|`)).filter(e=>/^\w/.test(e))}const f={bash:p,zsh:m,fish:h};function p(e){let t=e.flatMap(({value:e,spellings:t})=>{if(!e)return[];let{choices:n,isFile:r,isFolder:i}=e,a=`COMPREPLY=($(compgen -W '${n.join(` `)}' -- "$cur"))`,o=`compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -${i?`d`:`f`} -- "$cur"))`;return`    ${t.join(`|`)}) ${n.length>0?a:r||i?o:`:`}; return ;;`}),n=t=>e.filter(({uses:e})=>e.includes(t)).flatMap(({spellings:e})=>e),r=o.map(e=>`    ${e}) words='${d(e).join(` `)}' flags='${n(e).join(` `)}' ;;`);return`# bash completion of mini-cc. In ~/.bashrc: source <(mini-cc completion bash)
_mini_cc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} words flags
  COMPREPLY=()
  # bash takes --flag=value for three words.
  if [[ $cur == = ]]; then cur=''
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $prev in
${t.join(`
`)}
  esac
  case \${COMP_WORDS[1]} in
${r.join(`
`)}
    *) words='' flags='${n(`session`).join(` `)}' ;;
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W '${o.join(` `)}' -- "$cur"))
  elif [[ $COMP_CWORD == 2 ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _mini_cc mini-cc
`}function m(e){let t=e=>`'${e.replaceAll(`'`,`'\\''`)}'`,n=({spellings:e,help:n,value:r})=>{let{name:i=``,choices:a=[],isFile:o=!1,isFolder:s=!1}=r??{},c=a.length>0?`(${a.join(` `)})`:s?`_files -/`:o?`_files`:` `,l=e=>e.replaceAll(/[[\]:\\]/g,`\\$&`);return e.map(e=>{let a=r?`${e.startsWith(`--`)?`=`:`+`}`:``;return t(`*${e}${a}[${l(n)}]${r?`:${l(i)}:${c}`:``}`)})},i=t=>e.filter(({uses:e})=>e.includes(t)).flatMap(n).map(e=>`      ${e} \\\n`).join(``),a=o.map(e=>`    ${e}) _arguments \\
${i(e)}      '1:what:(${d(e).join(` `)})' '*: :_files' ;;`);return`#compdef mini-cc
# zsh completion of mini-cc. In ~/.zshrc, behind compinit: source <(mini-cc completion zsh)
_mini_cc() {
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    local -a commands=(${o.map(e=>t(`${e}:${r[e].help}`)).join(` `)})
    _describe command commands
    return
  fi
  local name=$words[2]
  case $name in
    ${o.join(`|`)}) shift words; (( CURRENT-- )) ;;
  esac
  case $name in
${a.join(`
`)}
    *) _arguments \\
${i(`session`)}      '*: :_files' ;;
  esac
}
if [[ \${funcstack[1]} == _mini_cc ]]; then _mini_cc "$@"; else compdef _mini_cc mini-cc; fi
`}function h(e){let t=e=>`'${e.replaceAll(`\\`,`\\\\`).replaceAll(`'`,`\\'`)}'`,n=e=>`__fish_seen_subcommand_from ${e.join(` `)}`,i=e.map(({long:e,short:r,help:i,value:a,uses:s})=>{let c=o.filter(e=>!s.includes(e)),l=c.length===0,u=s.includes(`session`)?`not ${n(c)}`:n(s),{choices:d=[],isFile:f=!1,isFolder:p=!1}=a??{},m=d.length>0?`-x -a ${t(d.join(` `))}`:p?`-x -a '(__fish_complete_directories)'`:f?`-r -F`:`-x`;return[`complete -c mini-cc`,...l?[]:[`-n ${t(u)}`],`-l ${e}`,...r===void 0?[]:[`-s ${r}`],...a?[m]:[],`-d ${t(i)}`].join(` `)});return`# fish completion of mini-cc. Once: mini-cc completion fish > ~/.config/fish/completions/mini-cc.fish
${[...o.flatMap(e=>{let i=`-d ${t(r[e].help)}`,a=d(e);return[`complete -c mini-cc -n __fish_use_subcommand -f -a ${e} ${i}`,...a.length>0?[`complete -c mini-cc -n ${t(`${n([e])}; and not ${n(a)}`)} -f -a ${t(a.join(` `))}`]:[]]}),...i].join(`
`)}
`}export{l as completionCommandLine};