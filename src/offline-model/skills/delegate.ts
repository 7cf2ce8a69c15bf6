/** Starts subagents by the Task tool, side by side, and reports their results. */
import {parseTypedTask} from '../../core/util/prompt-syntax.ts';
import {notDone, notPermitted, OFFLINE_CANNOT, paragraphs} from '../report.ts';
import {ask, type Job, type Observation, type Route, say, type Work} from '../skill.ts';

interface Delegation {
  readonly agent: string;
  /** Label of the progress line, a few words. Default: the first words of the prompt. */
  readonly description?: string;
  readonly prompt: string;
}

const ASKED =
  /^(?:use|ask|let|have|start|launch|run|spawn|dispatch|send)\s+(?:the |an? |my )?[`"']?([a-z][\w-]*)[`"']?\s+(?:sub-?)?agents?(?:\s+in the background)?\s*(?:to|for|:|,|and)?\s*([\s\S]+)$/i;
/** Matches "Use three agents to explore a, b and c": a number, agents, and the work. */
const SEVERAL: readonly RegExp[] = [
  /^(?:use|start|launch|run|spawn|dispatch|send|let|have)\s+(?<number>\d+|two|three|four|five|six|several|some)\s+(?:(?<agent>[a-z][\w-]*)\s+)?(?:sub-?)?agents?\s+(?:in parallel\s+)?(?:to\s+|for\s+)?(?<work>[\s\S]+)$/i,
  /^(?:utilise[rz]?|lance[rz]?|démarre[rz]?)\s+(?<number>\d+|deux|trois|quatre|cinq|plusieurs)\s+(?:sous-)?agents?\s+(?:en parallèle\s+)?pour\s+(?<work>[\s\S]+)$/iu,
  /^(?:nutze|benutze|verwende|starte|nimm)\s+(?<number>\d+|zwei|drei|vier|fünf|mehrere)\s+(?:sub-?)?agent(?:en|s)\s*,?\s*(?:parallel\s*,?\s*)?(?:um\s+)?(?<work>[\s\S]+)$/iu,
  /^(?:используй|запусти|возьми)\s+(?<number>\d+|два|двух|три|тр[её]х|четыре|пять|несколько)\s+(?:суб)?агент\p{L}*\s*,?\s*(?:параллельно\s*,?\s*)?(?:чтобы\s+|для\s+)?(?<work>[\s\S]+)$/iu,
  /^(?:用|使用|启动)\s*(?<number>\d+|两|二|三|四|五|几)\s*个(?:子)?(?:代理|智能体|agent)s?\s*(?:并行|同时)?(?:来|去)?\s*(?<work>[\s\S]+)$/iu,
];
const PARALLEL =
  /[,，]?\s*(?:in parallel|side by side|at the same time|at once|concurrently|en parallèle|parallel|gleichzeitig|параллельно|одновременно|并行|同时)[\s:：,，.]*/iu;
const NUMBERS: readonly RegExp[] = [
  /^(?:2|two|deux|zwei|два|двух|两|二)$/i,
  /^(?:3|three|trois|drei|три|тр[её]х|三)$/i,
  /^(?:4|four|quatre|vier|четыре|四)$/i,
  /^(?:5|five|cinq|fünf|пять|五)$/i,
];
/** Matches the first words of a request, up to its first object: "explore", "list the tests of". */
const VERB =
  /^(?:(?:explore|inspect|study|look at|look into|analy[sz]e|understand|summari[sz]e|review|audit|plan|read|explorer|étudier|analyser|relire|examiner|erkunden?|untersuchen?|analysieren|изучить|изучи|исследовать|исследуй|проверь|проверить)\s+|(?:探索|研究|分析|审查|查看)\s*)(?:the (?:folders?|directories|files?)\s+)?/iu;
const LAST_VERB = /\s+(?:zu\s+)?(erkunden|untersuchen|analysieren|prüfen|lesen)[\s.!]*$/iu;
const MAX_AGENTS = 8;
const BACKGROUND = /\b(?:in|as) (?:the |a )?background\b(?: task)?|en arrière-plan|в фоне|(?:在)?后台/iu;

/** Handles "Use three agents to explore a, b and c" and "explore a and b in parallel". */
export const delegateSeveral: Route = (job) => {
  if (!job.main) return undefined;
  const asked = SEVERAL.map((form) => form.exec(job.text)?.groups).find((groups) => groups !== undefined);
  if (!asked && !PARALLEL.test(job.text)) return undefined;
  const works = splitWork((asked?.work ?? job.text).replace(PARALLEL, ' ').trim());
  if (works.length < 2 && !asked) return undefined;
  const wanted = asked ? NUMBERS.findIndex((form) => form.test(asked.number!)) + 2 : 0;
  const agentOf = (work: string) =>
    job.toolbox.agents.find((known) => known === asked?.agent?.toLowerCase()) ?? chooseAgent(work, job);
  const chosen = works.slice(0, MAX_AGENTS).map((work) => ({agent: agentOf(work), prompt: work}));
  if (chosen.some(({agent}) => agent === undefined)) return undefined;
  const tasks = chosen.map(({agent, prompt}) => ({agent: agent!, prompt}));
  const note =
    wanted > 1 && wanted !== tasks.length
      ? `You asked for ${wanted} agents, and I found ${tasks.length === 1 ? 'one task' : `${tasks.length} tasks`}: one agent each.`
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
function chooseAgent(work: string, job: Job): string | undefined {
  const {agents} = job.toolbox;
  const named = (form: RegExp) => agents.find((name) => form.test(name));
  if (/^(?:plan|design|спланируй|计划)/iu.test(work)) return named(/^plan$/) ?? named(/explore/);
  if (/^(?:review|audit|relire|prüfe|проверь|审查)/iu.test(work)) return named(/review/) ?? named(/explore/);
  if (/^(?:rename|replace|create|write|add|run|change|renomme|benenne|переименуй|замени|重命名)/iu.test(work))
    return named(/^code$/);
  return named(/explore/);
}

/** Returns at most five words for the progress line. */
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
  const calls = delegations.map(({agent, description, prompt}) =>
    job.toolbox.task(agent, description ?? describe(prompt), prompt, background),
  );
  const results = yield* ask(calls);
  if (results.length === 1) return paragraphs(note, formatResult(delegations[0]!, results[0]!));
  // Equal results, as from an empty folder, are shown once.
  return paragraphs(note, ...new Set(delegations.map((one, index) => formatResult(one, results[index]!))));
}

function formatResult(delegation: Delegation, result: Observation): string {
  const {text, unverified} = parseTaskResult(result.text);
  const who = `The ${delegation.agent} agent (${delegation.description ?? describe(delegation.prompt)})`;
  if (result.outcome === 'missing') return notDone(`${who} was not started: ${result.text}.`);
  if (result.outcome === 'denied') return notPermitted(`the ${delegation.agent} agent`, result.text.split('\n')[0]!);
  // The agent's own refusal says it all; the words around it would repeat it.
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
  const ended =
    status === 'success'
      ? 'A background agent is done.'
      : `A background agent ended with status ${status}${note && `: ${note}`}.`;
  if (text === '' || text === '(not available)') return `${ended} It gave no result.`;
  return text.includes('\n') ? paragraphs(`${ended} It found:`, text) : `${ended} It found: ${text}`;
}
