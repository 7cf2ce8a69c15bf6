/** Handles "run CMD": runs a command by bash and shows its result. */

import {fenced, notDone, paragraphs} from '../report.ts';
import {askOne, type Job, type Observation, type Route, type Work} from '../skill.ts';
import {readOwnManifests} from './project/list-manifests.ts';

const VERB =
  /^(?:(?:run|execute|exec|lance[rz]?|exécute[rz]?|запусти|выполни)(?=[\s:`"])|运行|执行|跑一下)\s*[:：]?\s*(?:the )?(?:following )?(?:shell )?(?:command|cmd|commande|команду|命令)?\s*[:：]?\s*/iu;
const NAMED =
  /^(?:all |the |our |my |les |все |所有)*(?:unit |whole |full )*(tests?|test suite|linter|lint|type ?check|build|benchmarks?|bench|тесты|测试)(?:\s+(?:in the background|please|now|again|for me|once more|here))*[\s.!。]*$/iu;
const REPORT =
  /\s*(?:,|;)?\s*\b(?:and|then|et)\s+(?:then\s+)?(?:show|tell|report|say|give|print|explain|summari[sz]e|see|check whether)\b.*$/is;
const SHOWN_LINES = 60;

export const run: Route = (job) => {
  const shell = /^[!$]\s*(\S[\s\S]*)$/.exec(job.text)?.[1];
  if (shell !== undefined) return runCommand(shell.trim(), job);
  if (!VERB.test(job.text)) return undefined;
  const rest = job.text.replace(VERB, '');
  const fence = /```\w*\n([\s\S]*?)\n?```/.exec(rest)?.[1];
  const ticked = /`([^`\n]+)`/.exec(rest)?.[1];
  if (fence ?? ticked) return runCommand((fence ?? ticked)!.trim(), job);
  const what = NAMED.exec(rest.replace(REPORT, ''))?.[1];
  if (what !== undefined) return runNamed(what.toLowerCase(), job);
  const command = rest
    .replace(REPORT, '')
    .replace(/^["“](.*)["”]$/s, '$1')
    .replace(/^(?:the )?command\s+/i, '')
    .trim();
  // "run a review of src" is prose and not a command.
  if (command === '' || /^(a|an|the|some|all|every|my|our|this|that|it)\b/i.test(command)) return undefined;
  return runCommand(command, job);
};

function* runCommand(command: string, job: Job): Work<string> {
  return formatResult(command, yield* askOne(job.toolbox.bash(command)));
}

function formatResult(command: string, {outcome, text}: Observation): string {
  if (outcome === 'missing') return notDone(`I did not run \`${command}\`: ${text}.`);
  const stated = [...text.matchAll(/\bexit(?:ed)?(?: with)?(?: code| status)?[: ]+(\d+)/gi)].at(-1)?.[1];
  const exit = stated ?? (outcome === 'ok' ? '0' : undefined);
  const ending =
    exit === undefined ? 'failed' : exit === '0' ? 'ended with exit code 0' : `failed with exit code ${exit}`;
  const lines = text.replace(/\s*(?:^(?:exit code \d+|\(no output\)|<no output>)\s*)?$(?![\s\S])/m, '').split('\n');
  const shown =
    lines.length > SHOWN_LINES ? [...lines.slice(0, 20), `… ${lines.length - 50} lines …`, ...lines.slice(-30)] : lines;
  const output = shown.join('\n').trim();
  return paragraphs(
    `\`${command.split('\n')[0]}\` ${ending}${output === '' ? ', without output.' : '.'}`,
    output !== '' && fenced(output),
  );
}

/** Runs "the tests" or "the linter" by the command that the manifests name. */
function* runNamed(what: string, job: Job): Work<string> {
  const {near, facts} = yield* readOwnManifests(job);
  const test = /test|тест|测试/.test(what) ? facts.find((fact) => fact.test)?.test : undefined;
  const build = what === 'build' ? facts.find((fact) => fact.build)?.build : undefined;
  const wanted = /lint|type|bench|build/.exec(what)?.[0];
  const script = facts.flatMap((fact) =>
    fact.scripts
      .filter((one) => wanted !== undefined && one.name.includes(wanted))
      .map((one) => (fact.path.endsWith('package.json') ? `npm run ${one.name}` : one.name)),
  )[0];
  const command = (test ?? build)?.name ?? script;
  if (command === undefined)
    return notDone(
      `I found no command for "${what}" in ${near.length > 0 ? near.join(', ') : 'this folder: it has no manifest that I know'}.`,
    );
  return yield* runCommand(command, job);
}
