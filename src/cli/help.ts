export const helpText = `mini-cc: a terminal coding agent whose heart is its subagents

Usage
  mini-cc [prompt]          the REPL
  mini-cc -p [prompt]       one answer on standard output (also: piped standard input)
  mini-cc agents …          list, show NAME, create TEXT, delete NAME, lint [NAME], schema (--json, --yes, --template)
  mini-cc sessions …        list, show ID, export ID, delete ID (--json, --yes)
  mini-cc doctor            what works here, and how to mend what does not (--json)
  mini-cc config …          show (--json): what is in force and why; schema

Flags
  -p, --print                     one answer, no REPL
  --output-format FORMAT          text, json or stream-json
  --include-partial-messages      raw stream events too (stream-json)
  --verbose                       tool calls on standard error
  --model NAME                    opus, sonnet, haiku, or any name that the server knows
  --offline                       the built-in rule-based model, whatever keys are set
  --permission-mode MODE          default, acceptEdits, plan or bypassPermissions
  --dangerously-skip-permissions  the same as --permission-mode bypassPermissions
  --allowed-tools A,B             rules that pass without a question: edit_file, "bash(npm test)"
  --disallowed-tools A,B          rules that are refused
  --max-turns N                   model calls at most
  --timeout S                     seconds at most
  -c, --continue                  go on with the last session of this directory
  -r, --resume ID                 go on with a session
  --session-id UUID               the id of the new session
  --append-system-prompt TEXT     added to the system prompt
  --add-dir DIR                   a further directory that may be read and written
  --settings FILE                 settings over all others
  --agent NAME                    run as that agent
  --agents JSON                   further agents: {"name": {"description", "prompt", "tools", "model"}}
  --cwd DIR                       work there
  --trust                         trust what this directory's settings and agents ask for, until it changes
  --debug                         log to ~/.mini-cc/logs (also MINI_CC_DEBUG=1)
  --version, --help

Environment
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL,
  ANTHROPIC_DEFAULT_{OPUS,SONNET,HAIKU}_MODEL, MINI_CC_HOME, MINI_CC_DEBUG, NO_COLOR

Without a key or a server the built-in offline model answers.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 3 a limit ended it, 129 130 143 by a signal.
`;
