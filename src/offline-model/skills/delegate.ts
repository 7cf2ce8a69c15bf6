/** Starts subagents by the Task tool, side by side, and reports their results. */
import {parseTypedTask} from '../../core/util/prompt-syntax.ts';
import {bullets, notDone, paragraphs} from '../report.ts';
import {ask, type Job, type Observation, type Route, say, type Work} from '../skill.ts';

export interface Delegation {
  readonly agent: string;
  /** Three to five words. */
  readonly description: string;
  readonly prompt: string;
}

const ASKED =
  /^(?:use|ask|let|have|start|launch|run|spawn|dispatch|send)\s+(?:the |an? |my )?[`"']?([a-z][\w-]*)[`"']?\s+(?:sub-?)?agents?(?:\s+in the background)?\s*(?:to|for|:|,|and)?\s*([\s\S]+)$/i;
const BACKGROUND = /\b(?:in|as) (?:the |a )?background\b(?: task)?|en arrière-plan|в фоне|(?:在)?后台/iu;

/** "Task(reviewer): review src", "use the explore agent to …". */
export const delegateTyped: Route = (job) => {
  const typed = parseTypedTask(job.text);
  const [, name, words] = typed ? ['', typed.agent, typed.prompt] : (ASKED.exec(job.text) ?? []);
  if (!name || !words || !job.main) return undefined;
  const wanted = name.toLowerCase();
  const agent = job.toolbox.agents.find((known) => known === wanted || `${known}r` === wanted);
  if (agent === undefined) {
    if (!typed && !/agent/i.test(job.text)) return undefined;
    return say(notDone(`there is no agent \`${name}\`. Agents here: ${job.toolbox.agents.join(', ')}.`));
  }
  const prompt = words.trim();
  const description = prompt
    .replace(/[^\p{L}\p{N}\s_./-]/gu, ' ')
    .trim()
    .split(/\s+/)
    .slice(0, 5)
    .join(' ');
  return delegate(job, [{agent, description, prompt}]);
};

export function* delegate(job: Job, delegations: readonly Delegation[]): Work<string> {
  const background = BACKGROUND.test(job.text);
  const calls = delegations.map((one) => job.toolbox.task(one.agent, one.description, one.prompt, background));
  const results = yield* ask(calls);
  if (results.length === 1) return formatResult(delegations[0]!, results[0]!);
  // Equal results, as from an empty folder, are shown once.
  return paragraphs(...new Set(delegations.map((one, index) => formatResult(one, results[index]!))));
}

function formatResult(delegation: Delegation, result: Observation): string {
  const {text, unverified} = parseTaskResult(result.text);
  const who = `The ${delegation.agent} agent (${delegation.description})`;
  if (result.outcome === 'missing') return notDone(`${who} was not started: no more calls were allowed.`);
  if (result.outcome === 'denied') return `${who} was not permitted to run.`;
  if (result.outcome === 'failed')
    return paragraphs(notDone(`${who} did not finish. It returned:`), text || '(nothing)');
  const accepted = /"status"\s*:\s*"accepted"[\s\S]*?"runId"\s*:\s*"([^"]+)"/.exec(text)?.[1];
  if (accepted !== undefined)
    return `${who} works in the background (run ${accepted}). Its result will be announced here.`;
  return paragraphs(unverified && `${who} called no tool, so this is unverified:`, text || `${who} returned nothing.`);
}

/** The agent's own text in a Task result, without the lines that the runtime added. */
function parseTaskResult(result: string): {readonly text: string; readonly unverified: boolean} {
  const own: string[] = [];
  let unverified = false;
  for (const line of result.split('\n')) {
    if (/\bUNVERIFIED\b/.test(line)) unverified = true;
    if (/^(Receipt|Run|Repaired|Warning): /.test(line) || /^\s*\[?(UNVERIFIED|cached)\b[^a-z]*$/.test(line)) continue;
    own.push(line);
  }
  return {text: own.join('\n').trim(), unverified};
}

/** The announcement of a background run, in one or two sentences. */
export function formatAnnouncement(announcement: string): string {
  const field = (name: string) =>
    new RegExp(`^${name}:\\s*([\\s\\S]*?)(?=^(?:Status|Result|Notes|Stats):|$(?![\\s\\S]))`, 'm')
      .exec(announcement)?.[1]
      ?.trim();
  const status = field('Status') ?? 'unknown';
  const {text} = parseTaskResult(field('Result') ?? '');
  const lines = text === '(not available)' ? [] : text.split('\n').filter((line) => line.trim() !== '');
  const notes = (field('Notes') ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*-\s*/, ''))
    .filter((line) => line !== '' && line !== '(none)');
  const ended =
    status === 'success'
      ? 'A background agent is done.'
      : `A background agent ended with status ${status}${notes.length > 0 ? `: ${notes[0]}` : ''}.`;
  if (lines.length === 0) return `${ended} It gave no result.`;
  if (lines.length === 1) return `${ended} It found: ${lines[0]}`;
  return paragraphs(
    `${ended} It found:`,
    lines.length <= 12
      ? lines.join('\n')
      : `${lines.slice(0, 10).join('\n')}\n${bullets([`… ${lines.length - 10} more lines in its transcript`])}`,
  );
}
