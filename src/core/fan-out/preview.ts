/** Shows a fan-out as a question before it begins. The person can change the number of parts and the files. */
import {randomUUID} from 'node:crypto';
import type {Answer, Emit, Question} from '../contract/events.ts';
import type {Questions} from '../permissions/questions.ts';
import {Glob} from '../util/glob.ts';
import type {Split} from './partition.ts';
import {type FanOutPlan, formatPreview, type GetCost, splitFiles} from './plan.ts';
import {count} from './summary.ts';

/** Largest number of parts that a person can choose. */
const MAX_PARTS = 64;

interface PreviewDeps {
  readonly questions: Questions;
  readonly emit: Emit;
  readonly split: Split;
  readonly getCost?: GetCost | undefined;
  /** Label of the answer no, which says what happens then. */
  readonly no: string;
}

/** @returns the plan as the person wants it; `no`; `withdrawn` when the turn was interrupted */
export async function askForPlan(
  first: FanOutPlan,
  deps: PreviewDeps,
  signal: AbortSignal,
): Promise<FanOutPlan | 'no' | 'withdrawn'> {
  let plan = first;
  let problem = '';
  for (;;) {
    const answer = await ask(await createPreview(plan, problem, deps), deps, signal);
    problem = '';
    if (typeof answer === 'string') return 'withdrawn';
    if (answer.choice === 'yes') return plan;
    if (answer.choice !== 'parts' && answer.choice !== 'files') return 'no';
    const text = await askForText(answer.choice, plan, deps, signal);
    if (text === undefined) continue;
    const changed = answer.choice === 'parts' ? changeParts(plan, text, deps.split) : leaveOut(plan, text, deps.split);
    if (typeof changed === 'string') problem = changed;
    else plan = changed;
  }
}

async function createPreview(plan: FanOutPlan, problem: string, {getCost, no}: PreviewDeps): Promise<Question> {
  const {parts, files, agent} = plan;
  const title = `fan-out: ${count(parts.length, 'agent')} (${agent.name}) for ${count(files.length, 'file')}, each may write only its own`;
  return {
    id: randomUUID(),
    agent: 'mini-cc',
    title,
    detail: [await formatPreview(plan, getCost), ...(problem === '' ? [] : [problem])].join('\n'),
    detailType: 'text',
    options: [
      {digit: 1, choice: 'yes', label: 'yes, and edits of these files need no further question'},
      {digit: 2, choice: 'parts', label: 'another number of parts'},
      {digit: 3, choice: 'files', label: 'leave out files'},
      {digit: 4, choice: 'no', label: no},
    ],
    escape: 'no',
  };
}

function ask(question: Question, {questions, emit}: PreviewDeps, signal: AbortSignal): Promise<Answer | string> {
  return questions.ask(question, emit, signal);
}

/** @returns undefined when the person changed their mind */
async function askForText(
  what: 'parts' | 'files',
  {files, parts}: FanOutPlan,
  deps: PreviewDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const most = Math.min(MAX_PARTS, files.length);
  const title = what === 'parts' ? `How many parts? 1 to ${most}` : 'Leave out which files? Paths, folders or patterns';
  const detail = what === 'parts' ? `now ${parts.length}` : files.join('\n');
  const question: Question = {
    id: randomUUID(),
    agent: 'mini-cc',
    title,
    detail,
    detailType: 'text',
    options: [],
    escape: 'back',
  };
  const answer = await ask(question, deps, signal);
  return typeof answer === 'string' ? undefined : answer.note;
}

/** @returns a text when the number is not possible */
export function changeParts(plan: FanOutPlan, text: string, split: Split): FanOutPlan | string {
  const most = Math.min(MAX_PARTS, plan.files.length);
  const parts = Number(text.trim());
  if (!Number.isInteger(parts) || parts < 1 || parts > most)
    return `${JSON.stringify(text)} is no number from 1 to ${most}.`;
  return {...plan, parts: splitFiles(plan.files, {parts, split})};
}

/** @returns a text when these files cannot be left out */
export function leaveOut(plan: FanOutPlan, text: string, split: Split): FanOutPlan | string {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  const tests = names.map((name) => createFileTest(name));
  const unknown = names.find((_, index) => !plan.files.some((file) => tests[index]!(file)));
  if (unknown !== undefined) return `No file is meant by ${JSON.stringify(unknown)}.`;
  const files = plan.files.filter((file) => !tests.some((test) => test(file)));
  if (files.length === 0) return 'No file would be left.';
  return {...plan, files, parts: splitFiles(files, {parts: plan.parts.length, split})};
}

/** Creates a test for a path, a folder or a pattern. A pattern without a folder matches names in any folder. */
export function createFileTest(name: string): (file: string) => boolean {
  const clean = name.replace(/^@|^\.\//, '').replace(/\/+$/, '');
  const glob = new Glob(clean, {braces: true, openStars: true, plainBrackets: true});
  return (file) =>
    file === clean ||
    file.startsWith(`${clean}/`) ||
    glob.matches(clean.includes('/') ? file : file.slice(file.lastIndexOf('/') + 1));
}
