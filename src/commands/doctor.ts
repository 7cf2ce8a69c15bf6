/** Implements `mini-cc doctor` and `/doctor`: what works here, and how to fix what does not. */
import {UsageError} from '../core/util/errors.ts';
import type {Examine, Finding, SlashCommands} from './shared/command-deps.ts';
import {type CommandLineOutcome, printJson, printText, type SubcommandArguments} from './shared/command-line.ts';

export const slashCommands: SlashCommands = ({examine}) => [
  {
    name: 'doctor',
    description: 'what works here, and how to fix what does not',
    async run() {
      // Findings about missing parts are the answer, so the command succeeds.
      return {ok: true, text: formatFindings(await examine()), look: 'figures'};
    },
  },
];

/** Runs `mini-cc doctor`. Its exit code is 1 when something is missing. @throws UsageError for any extra word */
export async function runDoctorCommandLine(args: SubcommandArguments, examine: Examine): Promise<CommandLineOutcome> {
  const word = [args.verb, ...args.words].find((each) => each !== '');
  if (word !== undefined) throw new UsageError(`doctor: ${JSON.stringify(word)} is too much: mini-cc doctor [--json]`);
  const findings = await examine();
  const exitCode = findings.every(({state}) => state !== 'missing') ? 0 : 1;
  return {...(args.json ? printJson(findings) : printText(formatFindings(findings))), exitCode};
}

function formatFindings(findings: readonly Finding[]): string {
  const stateWidth = Math.max(...findings.map(({state}) => state.length));
  const nameWidth = Math.max(...findings.map(({about}) => about.length));
  return findings
    .map(({state, about, text, remedy}) => {
      const line = `${state.padEnd(stateWidth)}  ${about.padEnd(nameWidth)}  ${text}`;
      return remedy === undefined ? line : `${line}. To fix it: ${remedy}`;
    })
    .join('\n');
}
