/** Starts subagents by the Task tool, side by side, and reports their results. */
import {parseTypedTask} from '../../core/util/prompt-syntax.ts';
import {count, notDone, notPermitted, OFFLINE_CANNOT, paragraphs} from '../report.ts';
import {ask, type Job, type Observation, type Route, say, type Work} from '../skill.ts';

interface Delegation {
  readonly agent: string;
  readonly prompt: string;
}

const ASKED =
  /^(?:use|ask|let|have|start|launch|run|spawn|dispatch|send)\s+(?:the |an? |my )?[`"']?([a-z][\w-]*)[`"']?\s+(?:sub-?)?agents?(?:\s+in the background)?\s*(?:to|for|:|,|and)?\s*([\s\S]+)$/i;
const PARALLEL =
  /[,，]?\s*(?:in parallel|side by side|at the same time|at once|concurrently|en parallèle|parallel|gleichzeitig|параллельно|одновременно|并行|同时)[\s:：,，.]*/iu;
/** Words for the numbers from two on. */
const NUMBERS = ['2|two|deux|zwei|два|двух|两|二', '3|three|trois|drei|три|трех|трёх|三', '4|four|quatre|vier|四'];
/** Matches "use three agents to explore a, b and c" in several languages. */
const SEVERAL = new RegExp(
  `^(?:(?:use|start|launch|run|spawn|have|let|utilise[rz]?|lance[rz]?|nutze|verwende|starte|используй|запусти)\\s+|(?:用|使用|启动)\\s*)(?<number>${NUMBERS.join('|')}|\\d+|several|plusieurs|mehrere|несколько|几)\\s*个?(?:(?<agent>[a-z][\\w-]*)\\s+)?(?:sub-?|sous-|суб|子)?(?:agent|агент|代理|智能体)\\p{L}*?(?![\\p{Script=Latin}\\p{Script=Cyrillic}])[\\s,]*(?:(?:to|for|pour|um|чтобы|для)\\s+|来|去)?(?<work>.+)$`,
  'isu',
);
/** Matches the first words of a request, up to its first object: "explore", "list the tests of". */
const VERB =
  /^(?:(?:explorer?|inspect|study|look at|analy[sz]er?|understand|summari[sz]e|review|audit|plan|read|erkunde|untersuche|изучи|исследуй|проверь)\s+|(?:探索|研究|分析|审查)\s*)(?:the (?:folders?|directories|files?)\s+)?/iu;
const LAST_VERB = /\s+(?:zu\s+)?(erkunden|untersuchen|analysieren|prüfen|lesen)[\s.!]*$/iu;
const MAX_AGENTS = 8;
const BACKGROUND = /\b(?:in|as) (?:the |a )?background\b(?: task)?|en arrière-plan|в фоне|(?:在)?后台/iu;

/** Handles "Use three agents to explore a, b and c" and "explore a and b in parallel". */
export const delegateSeveral: Route = (job) => {
  const text = job.text.replace(PARALLEL, ' ').trim();
  const asked = SEVERAL.exec(text)?.groups;
  if (!job.main || (!asked && !PARALLEL.test(job.text))) return undefined;
  const works = splitWork(asked?.work ?? text);
  if (works.length < 2 && !asked) return undefined;
  const named = job.toolbox.agents.find((known) => known === asked?.agent?.toLowerCase());
  const tasks = works.slice(0, MAX_AGENTS).map((prompt) => ({agent: named ?? chooseAgent(prompt, job), prompt}));
  const number = asked?.number?.toLowerCase();
  const wanted = Number(number) || NUMBERS.findIndex((words) => words.split('|').includes(number ?? '')) + 2;
  const note =
    wanted > 1 && wanted !== tasks.length
      ? `You asked for ${wanted} agents, and I found ${count(tasks.length, 'task')}: one agent each.`
      : '';
  return delegate(job, tasks, note);
};

/** Splits "explore a, b and c" into "explore a", "explore b" and "explore c". */
function splitWork(text: string): readonly string[] {
  const last = LAST_VERB.exec(text)?.[1];
  const plain = text.replace(LAST_VERB, '').replace(/[\s.!。]+$/, '');
  const verb = VERB.exec(plain)?.[0] ?? '';
  const parts = plain
    .slice(verb.length)
    .split(/\s*[,;，；、]\s*(?:(?:and|et|und|и)\s+)?|\s+(?:and|et|und|и)\s+|\s*和\s*|\n+/iu)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  // Parts with a verb of their own are requests as they are: "explore src; review lib".
  return parts.map((part) =>
    VERB.test(`${part} `) ? part : `${verb.trim() || (last ? 'explore' : '')} ${part}`.trim(),
  );
}

/** Chooses the agent that is made for such work. */
function chooseAgent(work: string, job: Job): string {
  const named = (form: RegExp) => job.toolbox.agents.find((name) => form.test(name));
  if (/^(?:rename|replace|create|write|add|run|change|renomme|benenne|переименуй|замени|重命名)/iu.test(work))
    return 'code';
  const reviewer = /^(?:review|audit|relire|prüfe|проверь|审查)/iu.test(work) ? named(/review/) : undefined;
  return /^(?:plan|design|спланируй|计划)/iu.test(work) ? 'plan' : (reviewer ?? named(/explore/) ?? 'explore');
}

/** Returns the first words, up to five, for the progress line. */
function describe(prompt: string): string {
  return prompt
    .replace(/[^\p{L}\p{N}\s_./-]/gu, ' ')
    .trim()
    .split(/\s+/)
    .slice(0, 5)
    .join(' ');
}

/** Handles "Task(reviewer): review src" and "use the explore agent to …". */
export const delegateTyped: Route = (job) => {
  const typed = parseTypedTask(job.text, () => false, false);
  const [, name, words] = typed ? ['', typed.agent, typed.prompt] : (ASKED.exec(job.text) ?? []);
  if (!name || !words || !job.main) return undefined;
  const wanted = name.toLowerCase();
  const agent = job.toolbox.agents.find((known) => known === wanted || `${known}r` === wanted);
  if (agent === undefined) {
    if (!typed && !/agent/i.test(job.text)) return undefined;
    return say(notDone(`there is no agent \`${name}\`. Agents here: ${job.toolbox.agents.join(', ')}.`));
  }
  return delegate(job, [{agent, prompt: words.trim()}]);
};

/** @param note text before the results */
export function* delegate(job: Job, delegations: readonly Delegation[], note = ''): Work<string> {
  const background = BACKGROUND.test(job.text);
  const calls = delegations.map(({agent, prompt}) => job.toolbox.task(agent, describe(prompt), prompt, background));
  const results = yield* ask(calls);
  if (results.length === 1) return paragraphs(note, formatResult(delegations[0]!, results[0]!));
  // Equal results, as from an empty folder, are shown once.
  return paragraphs(note, ...new Set(delegations.map((one, index) => formatResult(one, results[index]!))));
}

function formatResult(delegation: Delegation, result: Observation): string {
  const {text, unverified} = parseTaskResult(result.text);
  const who = `The ${delegation.agent} agent (${describe(delegation.prompt)})`;
  if (result.outcome === 'missing') return notDone(`${who} was not started: ${result.text}.`);
  if (result.outcome === 'denied') return notPermitted(`the ${delegation.agent} agent`, result.text.split('\n')[0]!);
  // The agent's own refusal is shown alone, because further words would repeat it.
  const refusal = text.lastIndexOf(OFFLINE_CANNOT);
  if (result.outcome === 'failed' && refusal >= 0) return text.slice(refusal);
  if (result.outcome === 'failed')
    return paragraphs(notDone(`${who} did not finish. It returned:`), text || '(nothing)');
  const accepted = /"status"\s*:\s*"accepted"[\s\S]*?"runId"\s*:\s*"([^"]+)"/.exec(text)?.[1];
  if (accepted !== undefined)
    return `${who} works in the background (run ${accepted}). Its result will be announced here.`;
  return paragraphs(unverified && `${who} called no tool, so this is unverified:`, text || `${who} returned nothing.`);
}

/** Returns the agent's own text in a Task result, without what the runtime added. */
function parseTaskResult(result: string): {readonly text: string; readonly unverified: boolean} {
  const [text = '', receipt = ''] = result.split('\n<task_receipt>\n');
  const own = text.split('\n').filter((line) => !/^(?:(?:Repaired|Warning): |\[cached\]$)/.test(line));
  return {text: own.join('\n').trim(), unverified: /\bUNVERIFIED\b/.test(receipt)};
}

/** Formats the announcement of a background run in a sentence, with the agent's result below it. */
export function formatAnnouncement(announcement: string): string {
  const field = (name: string) =>
    new RegExp(`^${name}:\\s*([\\s\\S]*?)(?=^(?:Status|Result|Notes|Stats):|$(?![\\s\\S]))`, 'm')
      .exec(announcement)?.[1]
      ?.trim() ?? '';
  const status = field('Status');
  const {text} = parseTaskResult(field('Result'));
  const [note = ''] = field('Notes')
    .replace(/^- (?:\(none\))?/, '')
    .split('\n');
  const ended = `A background agent ${status === 'success' ? 'is done' : `ended with status ${status}${note && `: ${note}`}`}.`;
  if (text === '' || text === '(not available)') return `${ended} It gave no result.`;
  return `${ended} It found:${text.includes('\n') ? '\n\n' : ' '}${text}`;
}
