/** Drafts an agent, shows it with the tools that it will really have, and saves it when the person says so. */
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {formatDefinition} from '../../agents/definition-file.ts';
import {createDraftPrompt, createDraftSchema, parseDraft} from '../../agents/draft.ts';
import {parseJsonAgent} from '../../agents/json-source.ts';
import {saveAgent} from '../../agents/save.ts';
import type {AgentFile} from '../../agents/schema.ts';
import {getTemplates} from '../../agents/templates.ts';
import {UsageError} from '../../core/util/errors.ts';
import {slipOf} from '../../core/util/nearest.ts';
import {formatProblem} from '../../core/util/problem.ts';
import type {AgentsDesk, DeskResult} from './deps.ts';

export interface CreateOptions {
  /** What it is for; empty: the person is asked. */
  readonly text: string;
  /** One that ships. */
  readonly template?: string;
  /** Saves what is drafted without a question. */
  readonly sure: boolean;
}

interface Drafted {
  readonly fields: AgentFile;
  readonly notes: readonly string[];
}

/** @throws ModelError when the draft cannot be had; MiniCcError when it cannot be saved. */
export async function createAgent(options: CreateOptions, desk: AgentsDesk): Promise<DeskResult> {
  const drafted =
    options.template === undefined ? await draft(options.text, desk) : fromTemplate(options.template, desk);
  if ('ok' in drafted) return drafted;
  let {fields} = drafted;
  let {notes} = drafted;
  for (;;) {
    const checked = check(fields, desk);
    if (options.sure) return save(fields, desk);
    const answer = await desk.ask({
      title: 'save this agent?',
      detail: [formatDefinition(fields).trimEnd(), '', ...checked.lines, ...notes].join('\n'),
      detailType: 'text',
      options: [
        ...(checked.ok ? [{digit: 1, choice: 'save', label: `save as ${fields.name}.json`}] : []),
        {digit: 2, choice: 'edit', label: 'edit in $EDITOR'},
        {digit: 3, choice: 'drop', label: 'drop it'},
      ],
      escape: 'drop',
    });
    if (answer?.choice === 'save') return save(fields, desk);
    if (answer?.choice !== 'edit') return {ok: true, text: 'Dropped; nothing was saved.'};
    const edited = await edit(fields, desk);
    if (typeof edited === 'string') notes = [edited];
    else ({fields, notes} = {fields: edited, notes: []});
  }
}

async function draft(text: string, desk: AgentsDesk): Promise<Drafted | DeskResult> {
  const wanted = text === '' ? await askWhatFor(desk) : text;
  if (wanted === undefined) return {ok: true, text: 'Dropped; nothing was saved.'};
  desk.say('Drafting the agent…');
  const answer = await desk.complete(createDraftPrompt(wanted, desk.toolNames), createDraftSchema(desk.toolNames));
  const parsed = parseDraft(answer, {toolNames: desk.toolNames, taken: taken(desk)});
  if (parsed.ok) return {fields: parsed.fields, notes: parsed.notes};
  return {ok: false, text: `${parsed.error} Try again with other words, or write the file by hand.`};
}

async function askWhatFor(desk: AgentsDesk): Promise<string | undefined> {
  const answer = await desk.ask({
    title: 'what is the new agent for?',
    detail: 'In a sentence or two: its work, what it may change, how it should report.',
    detailType: 'text',
    options: [],
    escape: 'drop',
  });
  return answer?.choice === 'text' ? answer.note : undefined;
}

function fromTemplate(name: string, desk: AgentsDesk): Drafted | DeskResult {
  const all = getTemplates();
  const fields = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!fields) {
    const meant = slipOf(name, Object.keys(all));
    return {
      ok: false,
      text: `No template ${name}.${meant ? ` Did you mean ${meant}?` : ''} There are: ${Object.keys(all).join(', ')}`,
    };
  }
  const free = parseDraft(JSON.stringify(fields), {toolNames: desk.toolNames, taken: taken(desk)});
  return free.ok ? {fields: {...fields, name: free.fields.name}, notes: free.notes} : {fields, notes: []};
}

function taken(desk: AgentsDesk): string[] {
  const {agents, hidden} = desk.snapshot();
  return [...agents.map(({definition}) => definition.name), ...hidden.map(({name}) => name)];
}

function readingOptions(desk: AgentsDesk) {
  return {toolNames: desk.toolNames, dialect: 'json', mayWiden: () => false} as const;
}

/** What the agent will be once it is saved. */
function check(fields: AgentFile, desk: AgentsDesk): {ok: boolean; lines: string[]} {
  const file = path.join(desk.projectFolder, `${fields.name}.json`);
  const {agent, problems} = parseJsonAgent(formatDefinition(fields), file, readingOptions(desk));
  const found = problems.map((problem) => formatProblem({...problem, file: desk.shownPath(file)}));
  if (!agent) return {ok: false, lines: found};
  const held = agent.definition.readOnly ? 'read-only: its bash is held by the operating system' : 'may write';
  return {ok: true, lines: [`Effective tools: ${agent.tools.join(', ')} · ${held}`, ...found]};
}

/** @returns the edited definition, or what is wrong with it. */
async function edit(fields: AgentFile, desk: AgentsDesk): Promise<AgentFile | string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mini-cc-draft-'));
  const file = path.join(folder, `${fields.name}.json`);
  try {
    await writeFile(file, formatDefinition(fields));
    const opened = await desk.openEditor(file);
    if (opened !== true) return opened;
    // By another name than its file's: a draft may be renamed.
    const {agent, problems} = parseJsonAgent(await readFile(file, 'utf8'), 'draft', readingOptions(desk));
    if (!agent) return `The edit was not taken: ${problems.map(formatProblem).join('; ')}`;
    return agent.fields;
  } finally {
    await rm(folder, {recursive: true});
  }
}

async function save(fields: AgentFile, desk: AgentsDesk): Promise<DeskResult> {
  const {ok, lines} = check(fields, desk);
  if (!ok) throw new UsageError(lines.join('\n'));
  const file = await saveAgent(fields, desk.projectFolder, {overwrite: false});
  return {
    ok: true,
    text: `Saved ${desk.shownPath(file)}. Use it at once: Task(${fields.name}): …`,
    data: {name: fields.name, file},
  };
}
