/** "fetch URL": the page as it came, or why it did not. */
import type {Job, Route} from '../job.ts';
import {cannot, count, fenced, notDone, paragraphs} from '../report.ts';
import {askOne, type Work} from '../skill.ts';

const REQUEST =
  /^(?:fetch|get|open|load|visit|read|show)(?: me)?(?: (?:the )?(?:web ?)?(?:page|site|url|content|contents)(?: (?:at|of|from))?)?\s+[<`"']?(https?:\/\/[^\s<>`"']+?)[>`"']?[.!]?$/i;
const SHOWN_LINES = 60;

export const fetchPage: Route = (job) => {
  const url = REQUEST.exec(job.text)?.[1];
  return url === undefined ? undefined : fetching(url, job);
};

function* fetching(url: string, {toolbox}: Job): Work<string> {
  const call = toolbox.fetch(url);
  if (!call) return cannot('I have no web_fetch tool here, so I cannot reach the network.');
  const {outcome, text} = yield* askOne(call);
  if (outcome === 'missing') return notDone(`I did not come to fetch ${url}: no more tool calls were allowed.`);
  if (outcome !== 'ok') return notDone(text.split('\n')[0] ?? '');
  const lines = text.trim().split('\n');
  const more = lines.length - SHOWN_LINES;
  return paragraphs(
    `${url}:`,
    fenced(lines.slice(0, SHOWN_LINES).join('\n')),
    more > 0 && `… and ${count(more, 'more line')}.`,
  );
}
