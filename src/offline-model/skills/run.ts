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

function formatResult(command: string, result: Observation): string {
  if (result.outcome === 'missing') return notDone(`I did not run \`${command}\`: ${result.text}.`);
  const lines = result.text.replace(/\s+$/, '').split('\n');
  const stated = lines
    .map((line) => /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]+(\d+)/i.exec(line)?.[1])
    .findLast((one) => one !== undefined);
  const exit = stated ?? (result.outcome === 'ok' ? '0' : undefined);
  const ending =
    exit === undefined ? 'failed' : exit === '0' ? 'ended with exit code 0' : `failed with exit code ${exit}`;
  const shown =
    lines.length > SHOWN_LINES ? [...lines.slice(0, 20), `… ${lines.length - 50} lines …`, ...lines.slice(-30)] : lines;
  const status = /^(exit code \d+|\(no output\)|<no output>)$/;
  const output = shown
    .filter((line, index) => index < shown.length - 1 || !status.test(line.trim()))
    .join('\n')
    .trim();
  return paragraphs(
    `\`${command.split('\n')[0]}\` ${ending}${output === '' ? ', without output.' : '.'}`,
    output !== '' && fenced(output),
  );
}

/** Runs "the tests" or "the linter" by the command that the manifests name. */
function* runNamed(what: string, job: Job): Work<string> {
  const {near, facts} = yield* readOwnManifests(job);
  const isTest = /test|тест|测试/.test(what);
  const wanted = /lint/.test(what)
    ? /(^|[\s:])(lint|check)$/
    : /type/.test(what)
      ? /type-?check|tsc|check/
      : /bench/.test(what)
        ? /bench/
        : /build/;
  const test = facts.find((fact) => fact.test)?.test?.name;
  const build = /build/.test(what) ? facts.find((fact) => fact.build)?.build?.name : undefined;
  const script = facts.flatMap((fact) =>
    fact.scripts
      .filter((one) => wanted.test(one.name))
      .map((one) => (fact.path.endsWith('.json') ? `npm run ${one.name}` : one.name)),
  )[0];
  const command = isTest ? test : (build ?? script);
  if (command === undefined)
    return notDone(
      `I found no command for "${what}" in ${near.length > 0 ? near.join(', ') : 'this folder: it has no manifest that I know'}.`,
    );
  return yield* runCommand(command, job);
}
