/** Defines the two tools by which the main agent asks the person: `AskUserQuestion` and `ExitPlanMode`. */
import {randomUUID} from 'node:crypto';
import {z} from 'zod';
import type {Answer, Emit, PermissionMode, Question} from '../core/contract/events.ts';
import type {Tool, ToolContext} from '../core/contract/tool.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {isObject} from '../core/util/objects.ts';
import {toShortLine} from '../core/util/text.ts';
import {errorResult, REFUSED, textResult, USER_SAYS} from '../core/util/tool-output.ts';
import askDescription from './ask-user-question.md';
import exitDescription from './exit-plan-mode.md';

export const ASK_USER_QUESTION: ToolFacts = {
  name: 'AskUserQuestion',
  kind: 'think',
  label: 'Ask',
  dispatches: true,
  needs: 'somebody who can answer',
};

export const EXIT_PLAN_MODE: ToolFacts = {
  name: 'ExitPlanMode',
  kind: 'think',
  label: 'Plan',
  dispatches: true,
  needs: 'somebody who can answer',
};

export interface AskUserDeps {
  /** How questions are answered: by a person at the screen, one by one, or by a program that gets the whole call. */
  readonly who: 'screen' | 'driver';
  /** Puts a question. @returns undefined when the run was stopped first */
  ask(question: Question, emit: Emit, signal: AbortSignal): Promise<Answer | undefined>;
  readonly getMode: () => PermissionMode;
  setMode(mode: PermissionMode): void;
}

const option = z.object({label: z.string().min(1), description: z.string().optional()});
const askInput = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1),
        header: z.string().optional(),
        options: z.array(option).min(2).max(4),
        multiSelect: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(4),
});
type AskInput = z.infer<typeof askInput>;

const STOPPED = 'Not answered: stopped.';
const NO_ANSWER = 'The user did not answer. Go on as you think best, or ask in words.';

export function createAskUserQuestion(deps: AskUserDeps): Tool<AskInput> {
  return {
    ...ASK_USER_QUESTION,
    description: askDescription,
    input: askInput,
    title: ({questions}) => questions[0]?.question ?? '',
    access: () => [{kind: 'none'}],
    run: (input, context) =>
      deps.who === 'driver' ? askDriver(input, context, deps) : askPerson(input, context, deps),
  };
}

/** Characters of an answer in the line of the call. */
const MAX_SHOWN_CHARS = 60;

async function askPerson({questions}: AskInput, {emit, signal, callId}: ToolContext, {ask}: AskUserDeps) {
  const answers: string[] = [];
  const shown: string[] = [];
  for (const {question: title, options, multiSelect} of questions) {
    const several = multiSelect ? ['several of them, or something else: say it'] : ['something else: say it'];
    const answer = await ask(
      {
        id: randomUUID(),
        agent: 'main',
        callId,
        title,
        detail: '',
        detailType: 'text',
        options: [
          ...options.map(({label, description = ''}, index) => ({
            digit: index + 1,
            choice: `option ${index}`,
            label: description === '' ? label : `${label}: ${description}`,
          })),
          {digit: options.length + 1, choice: 'other', label: several[0]!, takesNote: true},
        ],
        escape: 'no answer',
      },
      emit,
      signal,
    );
    if (!answer) return errorResult(STOPPED);
    const chosen = options.find((_, index) => answer.choice === `option ${index}`)?.label;
    const said = chosen ?? answer.note?.trim();
    answers.push(`${title}\n${said ? `${USER_SAYS}${said}` : NO_ANSWER}`);
    shown.push(said ? toShortLine(said, MAX_SHOWN_CHARS) : 'no answer');
  }
  return textResult(answers.join('\n\n'), {summary: shown.join(' · ')});
}

/** The program returns the input with `answers`: a text for each question. */
async function askDriver(input: AskInput, {emit, signal, callId}: ToolContext, {ask}: AskUserDeps) {
  const title = input.questions[0]!.question;
  const answer = await ask(createCallQuestion(ASK_USER_QUESTION.name, title, input, callId), emit, signal);
  if (!answer) return errorResult(STOPPED);
  if (answer.choice === 'no' || answer.choice === 'escape')
    return textResult(answer.note ? `${USER_SAYS}${answer.note}` : NO_ANSWER);
  const given = isObject(answer.input) && isObject(answer.input.answers) ? answer.input.answers : {};
  return textResult(
    input.questions
      .map(({question}) => {
        const said = given[question];
        return `${question}\n${said === undefined ? NO_ANSWER : `${USER_SAYS}${Array.isArray(said) ? said.join(', ') : String(said)}`}`;
      })
      .join('\n\n'),
  );
}

function createCallQuestion(tool: string, title: string, input: unknown, callId: string): Question {
  return {
    id: randomUUID(),
    agent: 'main',
    callId,
    title,
    detail: title,
    detailType: 'text',
    call: {callId, tool, input},
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      {digit: 2, choice: 'no', label: 'no, and say why', takesNote: true},
    ],
    escape: 'no',
  };
}

const exitInput = z.object({plan: z.string().min(1)});

export function createExitPlanMode(deps: AskUserDeps): Tool<z.infer<typeof exitInput>> {
  return {
    ...EXIT_PLAN_MODE,
    description: exitDescription,
    input: exitInput,
    title: () => '',
    access: () => [{kind: 'none'}],
    async run({plan}, {emit, signal, callId}) {
      if (deps.getMode() !== 'plan') return errorResult('The session is not in plan mode: go on with the work.');
      const question = createCallQuestion(EXIT_PLAN_MODE.name, 'Begin with this plan?', {plan}, callId);
      const answer = await deps.ask(
        {
          ...question,
          detail: plan,
          detailType: 'markdown',
          options: [
            ...(deps.who === 'screen' ? [{digit: 1, choice: 'acceptEdits', label: 'yes, and accept edits'}] : []),
            {digit: 2, choice: 'yes', label: 'yes, and ask before each change'},
            {digit: 3, choice: 'no', label: 'no, and say what to change', takesNote: true},
          ],
        },
        emit,
        signal,
      );
      if (!answer) return errorResult(STOPPED);
      if (answer.choice !== 'yes' && answer.choice !== 'acceptEdits') {
        const note = answer.note?.trim();
        return errorResult(
          `The user does not want to begin yet. Stay in plan mode.${note ? ` ${USER_SAYS}${note}` : ''}`,
          {summary: REFUSED},
        );
      }
      // A driver may have chosen a mode with its answer.
      if (deps.getMode() === 'plan') deps.setMode(answer.choice === 'acceptEdits' ? 'acceptEdits' : 'default');
      return textResult('The user agrees. Plan mode is over: begin with the work.');
    },
  };
}
