/** Drafts an agent, shows it with the tools that it will really have, and saves it when the person agrees. */

import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import architect from '../../../.mini-cc/agents/architect.json';
import debuggerAgent from '../../../.mini-cc/agents/debugger.json';
import docReader from '../../../.mini-cc/agents/doc-reader.json';
import documenter from '../../../.mini-cc/agents/documenter.json';
import refactorer from '../../../.mini-cc/agents/refactorer.json';
import reviewer from '../../../.mini-cc/agents/reviewer.json';
import tester from '../../../.mini-cc/agents/tester.json';
import {formatDefinition} from '../../agents/definition-file.ts';
import {
  CASES_SCHEMA,
  createCasesPrompt,
  createDraftPrompt,
  createDraftSchema,
  formatCases,
  parseDraft,
} from '../../agents/draft.ts';
import {parseJsonAgent} from '../../agents/json-source.ts';
import {saveAgent, saveCases} from '../../agents/save.ts';
import {type AgentFile, agentFileSchema} from '../../agents/schema.ts';
import type {Answer} from '../../core/contract/events.ts';
import {getErrorMessage, UsageError} from '../../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../../core/util/files/temporary-folder.ts';
import {findTypo} from '../../core/util/names.ts';
import {formatProblem} from '../../core/util/problem.ts';
import {createDeclined} from '../shared/results.ts';
import {type AgentsDeps, type AgentsResult, formatAgent} from './show.ts';

interface CreateOptions {
  /** Purpose of the agent. When it is empty, the person is asked. */
  readonly text: string;
  /** Name of an agent that ships with mini-cc. */
  readonly template?: string;
  /** True to save the draft without a question. */
  readonly sure: boolean;
}

interface Drafted {
  readonly fields: AgentFile;
  readonly notes: readonly string[];
}

/** @throws ModelError when the model gives no draft, MiniCcError when it cannot be saved */
export async function createAgent(options: CreateOptions, deps: AgentsDeps): Promise<AgentsResult> {
  const drafted =
    options.template === undefined ? await draft(options.text, deps) : draftFromTemplate(options.template, deps);
  if ('ok' in drafted) return drafted;
  let {fields} = drafted;
  let {notes} = drafted;
  for (;;) {
    const checked = check(fields, deps);
    if (options.sure) return save(fields, deps);
    const answer = await deps.ask({
      title: 'Save this agent?',
      detail: [...checked.lines, ...notes].join('\n'),
      options: [
        ...(checked.ok ? [{digit: 1, choice: 'save', label: `save as ${fields.name}.json`}] : []),
        {digit: 2, choice: 'edit', label: 'edit in $EDITOR'},
        {digit: 3, choice: 'drop', label: 'drop it'},
        ...(checked.ok ? [{digit: 4, choice: 'cases', label: 'save it, and draft three cases that test it'}] : []),
      ],
      escape: 'drop',
    });
    if (answer?.choice === 'save') return save(fields, deps);
    if (answer?.choice === 'cases') return saveWithCases(fields, deps);
    if (answer?.choice !== 'edit') return createDeclined('Dropped; nothing was saved.', answer);
    const edited = await edit(fields, deps);
    if (typeof edited === 'string') notes = [edited];
    else ({fields, notes} = {fields: edited, notes: []});
  }
}

async function draft(text: string, deps: AgentsDeps): Promise<Drafted | AgentsResult> {
  const answer = text === '' ? await askWhatFor(deps) : {choice: 'text', note: text};
  if (answer?.choice !== 'text') return createDeclined('Dropped; nothing was saved.', answer);
  const wanted = answer.note ?? '';
  deps.say('Drafting the agent…');
  const reply = await deps.complete(createDraftPrompt(wanted, deps.listable), createDraftSchema(deps.listable));
  const parsed = parseDraft(reply, {listable: deps.listable, taken: getTakenNames(deps)});
  if (parsed.ok) return {fields: parsed.fields, notes: parsed.notes};
  return {ok: false, text: `${parsed.error} Try again with other words, or write the file by hand.`};
}

function askWhatFor(deps: AgentsDeps): Promise<Answer | undefined> {
  return deps.ask({
    title: 'What is the new agent for?',
    detail: 'In a sentence or two: its work, what it may change, how it should report.',
    escape: 'drop',
  });
}

function draftFromTemplate(name: string, deps: AgentsDeps): Drafted | AgentsResult {
  const all = getTemplates();
  const fields = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!fields) {
    const meant = findTypo(name, Object.keys(all));
    return {
      ok: false,
      text: `No template ${name}.${meant ? ` Did you mean ${meant}?` : ''} There are: ${Object.keys(all).join(', ')}`,
    };
  }
  const free = parseDraft(JSON.stringify(fields), {listable: deps.listable, taken: getTakenNames(deps)});
  return free.ok ? {fields: {...fields, name: free.fields.name}, notes: free.notes} : {fields, notes: []};
}

function getTakenNames(deps: AgentsDeps): string[] {
  const {agents, hidden} = deps.snapshot();
  return [...agents.map(({definition}) => definition.name), ...hidden.map(({name}) => name)];
}

function createReadOptions(deps: AgentsDeps) {
  return {listable: deps.listable, dialect: 'json', mayWiden: () => false} as const;
}

/** Parses the definition in the same way as after it is saved, and shows the agent with the tools that it will have. */
function check(fields: AgentFile, deps: AgentsDeps): {ok: boolean; lines: string[]} {
  const file = path.join(deps.projectFolder, `${fields.name}.json`);
  const {agent, problems} = parseJsonAgent(formatDefinition(fields), file, createReadOptions(deps));
  const found = problems.map((problem) => formatProblem({...problem, file: deps.shownPath(file)}));
  if (!agent) return {ok: false, lines: [formatDefinition(fields).trimEnd(), '', ...found]};
  const shown = formatAgent({...agent, source: 'project', file}, deps);
  return {ok: true, lines: [shown, ...(found.length > 0 ? ['', ...found] : [])]};
}

/** @returns the edited definition, or the reason why there is none */
async function edit(fields: AgentFile, deps: AgentsDeps): Promise<AgentFile | string> {
  const folder = createTemporaryFolder();
  const file = path.join(folder, `${fields.name}.json`);
  try {
    await writeFile(file, formatDefinition(fields));
    const opened = await deps.openEditor(file);
    if (opened !== true) return opened;
    // The name `draft` is not the file's own name: an agent must be named like its file, but a draft may be renamed.
    const {agent, problems} = parseJsonAgent(await readFile(file, 'utf8'), 'draft', createReadOptions(deps));
    if (!agent) return `The edit is not valid: ${problems.map(formatProblem).join('; ')}`;
    return agent.fields;
  } finally {
    removeTemporaryFolder(folder);
  }
}

/** Saves the agent also where no cases could be drafted, and says why. */
async function saveWithCases(fields: AgentFile, deps: AgentsDeps): Promise<AgentsResult> {
  const saved = await save(fields, deps);
  deps.say('Drafting three cases…');
  try {
    const text = formatCases(fields.name, await deps.complete(createCasesPrompt(fields), CASES_SCHEMA));
    const problem = await deps.checkCases(fields.name, text);
    if (problem !== undefined) throw new UsageError(problem);
    const file = await saveCases(fields.name, text, path.join(deps.projectFolder, '..', 'evals'));
    const cases = `Saved ${deps.shownPath(file)}: read it, then /agents test ${fields.name}`;
    return {...saved, text: `${saved.text}\n${cases}`};
  } catch (error) {
    return {...saved, text: `${saved.text}\nNo cases were saved: ${getErrorMessage(error)}`};
  }
}

async function save(fields: AgentFile, deps: AgentsDeps): Promise<AgentsResult> {
  const {ok, lines} = check(fields, deps);
  if (!ok) throw new UsageError(lines.join('\n'));
  const file = await saveAgent(fields, deps.projectFolder, deps.listable.known);
  deps.snapshot(fields.name);
  return {
    ok: true,
    text: `Saved ${deps.shownPath(file)}. Use it at once: Task(${fields.name}): …`,
    data: {name: fields.name, file},
  };
}

/** The agents of this repository's own `.mini-cc/agents`, bundled with mini-cc as templates and examples. */
const SHIPPED: readonly unknown[] = [architect, debuggerAgent, docReader, documenter, refactorer, reviewer, tester];

export function getTemplates(): Readonly<Record<string, AgentFile>> {
  const definitions = SHIPPED.map((each) => agentFileSchema.parse(each));
  return Object.fromEntries(definitions.map((definition) => [definition.name, definition]));
}
