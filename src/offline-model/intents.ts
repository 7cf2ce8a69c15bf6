/** Which skill a request is for. In order: the first that takes it decides; what none takes is searched for. */
import type {Job, Route} from './job.ts';
import {isCannot, paragraphs} from './report.ts';
import {NotPermitted, type Work} from './skill.ts';
import {answer} from './skills/answer.ts';
import {create} from './skills/create.ts';
import {assign} from './skills/delegate.ts';
import {fetchPage} from './skills/fetch-page.ts';
import {find} from './skills/find.ts';
import {parseFind} from './skills/find-request.ts';
import {git} from './skills/git.ts';
import {greet} from './skills/greet.ts';
import {list} from './skills/list.ts';
import {plan} from './skills/plan.ts';
import {explore} from './skills/project/explore.ts';
import {projectQuestion} from './skills/project/project-question.ts';
import {read} from './skills/read.ts';
import {rename} from './skills/rename/rename.ts';
import {review} from './skills/review.ts';
import {run} from './skills/run.ts';
import {plainRequest} from './words.ts';

const findRoute: Route = (job) => {
  const request = parseFind(job.text, job.earlier);
  return request && find(request, job);
};

const ROUTES: readonly Route[] = [
  greet,
  assign,
  fetchPage,
  rename,
  create,
  run,
  git,
  planAsked,
  reviewAsked,
  projectQuestion,
  list,
  read,
  explore,
  findRoute,
];
/** For a plan or review agent, whatever is left is to be planned or reviewed. */
const BY_ROLE: readonly Route[] = [plan, review];
/** Requests in one message, one after the other. */
const MOST_PARTS = 4;

export function workOn(job: Job): Work<string> {
  const parts = partsOf(job.text).map((text) => ({...job, text}));
  const works = parts.map(routed);
  if (works.length > 1 && works.every((work) => work !== undefined)) return inOrder(works);
  return guarded(routed(job) ?? BY_ROLE.map((route) => route(job)).find((work) => work !== undefined) ?? answer(job));
}

function routed(job: Job): Work<string> | undefined {
  // Read-only agents with a fixed role keep to it, unless plainly asked for something small.
  for (const route of ROUTES) {
    const work = route(job);
    if (work) return work;
  }
  return undefined;
}

function planAsked(job: Job): Work<string> | undefined {
  return plan({...job, role: 'other'});
}

function reviewAsked(job: Job): Work<string> | undefined {
  return review({...job, role: 'other'});
}

/** "create a.txt with "x", then run `cat a.txt`": split where a quoted or fenced text can't be meant. */
function partsOf(text: string): readonly string[] {
  if (/```/.test(text)) return [text];
  const kept: string[] = [];
  const masked = text.replace(/`[^`]*`|"[^"]*"|“[^”]*”/g, (quoted) => `\u0000${kept.push(quoted) - 1}\u0000`);
  const parts = masked.split(/\s*(?:[,;.]\s*(?:and\s+)?then\s+|\s+and then\s+|;\s*\n|\n+(?=\d+[.)]\s))/i);
  const clean = parts.map((part) =>
    plainRequest(part.replace(/^\s*\d+[.)]\s+/, '').replace(/\u0000(\d+)\u0000/g, (_, index) => kept[Number(index)]!)),
  );
  return clean.length <= MOST_PARTS ? clean.filter((part) => part !== '') : [text];
}

function* inOrder(works: readonly Work<string>[]): Work<string> {
  const answers: string[] = [];
  for (const work of works) answers.push(yield* guarded(work));
  // What could not be done is said first, so that it is seen.
  const failed = answers.filter(isCannot);
  return paragraphs(...failed, ...answers.filter((one) => !isCannot(one)));
}

/** A refusal ends the work with a plain sentence; it is not tried by other means. */
function* guarded(work: Work<string>): Work<string> {
  try {
    return yield* work;
  } catch (error) {
    if (!(error instanceof NotPermitted)) throw error;
    const names = [...new Set(error.calls.map((call) => call.name))].map((name) => `\`${name}\``).join(', ');
    const [call] = error.calls;
    const what = call?.input.command ?? call?.input.path ?? call?.input.pattern ?? call?.input.url;
    const named = typeof what === 'string' && error.calls.length === 1 ? ` for \`${what.split('\n')[0]}\`` : '';
    return `The call of ${names}${named} was not permitted, so I did not go on. The reason given: ${error.reason.split('\n')[0]}`;
  }
}
