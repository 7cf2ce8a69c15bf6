/**
 * Two keys that must never be shown or stored, a project with them in its `.env`, and a model that repeats them
 * everywhere.
 */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {callTool, callTools, thinkingThen} from '../support/scripted-replies.ts';
import type {Workspace} from '../support/workspace.ts';
import {isSubagent, project} from './fixture.ts';

export const MODEL_KEY = 'sk-ant-marker-0wn+1a2b3c4d/5e6f7g8h9i0jklmnop';
export const OTHER_KEY = 'foo-marker-0ther.1a2b3c4d5e6f7g8h9i0jklm';
export const KEYS = {ANTHROPIC_API_KEY: MODEL_KEY, FOO_API_KEY: OTHER_KEY};
export const DOT_ENV = `ANTHROPIC_API_KEY=${MODEL_KEY}\nFOO_API_KEY="${OTHER_KEY}"\n`;

/** Characters of a key in a row that count as a leak. */
const LEAK_LENGTH = 16;

/** The pieces of keys that a text contains. */
export function findLeaks(text: string): string[] {
  return [MODEL_KEY, OTHER_KEY].flatMap((key) =>
    Array.from({length: key.length - LEAK_LENGTH + 1}, (_, at) => key.slice(at, at + LEAK_LENGTH)).filter((piece) =>
      text.includes(piece),
    ),
  );
}

/** Stored contents of the user's files, and worktrees: they must be restored byte by byte. */
const USER_CONTENTS = /\/(?:checkpoints\/(?:files|git)|worktrees)\//;

/** Files below a folder with a piece of a key in name or content, except stored contents of the user's files. */
export function findLeakingFiles(folder: string): string[] {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !USER_CONTENTS.test(file))
    .filter((file) => findLeaks(file).length > 0 || findLeaks(readFileSync(file, 'latin1')).length > 0);
}

export async function projectWithKeys(): Promise<Workspace> {
  const workspace = await project();
  await workspace.write('.env', DOT_ENV);
  return workspace;
}

const both = `${MODEL_KEY} and ${OTHER_KEY}`;
const task = (background: boolean) => ({
  name: 'Task',
  input: {
    description: `look for ${MODEL_KEY}`,
    prompt: `find ${both}`,
    agent_type: 'code',
    label: `at ${OTHER_KEY}`,
    background,
  },
});

/** The replies to the main agent, turn by turn. */
const TURNS: readonly Reply[] = [
  thinkingThen(
    `I think of ${both}`,
    callTools(
      [
        {name: 'read_file', input: {path: '.env'}},
        {name: 'bash', input: {command: `cat .env; echo "[$ANTHROPIC_API_KEY]" ${MODEL_KEY}; base64 .env; exit 3`}},
        {name: 'read_file', input: {path: `missing/${MODEL_KEY}`}},
        {name: 'grep', input: {pattern: OTHER_KEY}},
      ],
      `Your keys are ${both}.`,
    ),
  ),
  callTools([
    // More than the output limit: the whole output goes into a file.
    {name: 'bash', input: {command: `for i in $(seq 900); do echo "$i ${MODEL_KEY} ${OTHER_KEY}"; done; sleep 0.3`}},
    {name: 'bash', input: {command: `echo ${'x'.repeat(60)} ${MODEL_KEY}`}},
    {name: 'write_file', input: {path: 'copy.env', content: DOT_ENV}},
    {name: 'read_file', input: {path: 'README.md'}},
    {name: 'edit_file', input: {path: 'README.md', old_string: 'Greeter', new_string: MODEL_KEY}},
    {name: 'todo_write', input: {todos: [{content: `hide ${MODEL_KEY}`, status: 'in_progress'}]}},
  ]),
  callTools([task(false), task(true)]),
];

/** After the last of `TURNS`, it repeats the keys once more. */
export function leakingModel(body: MessagesBody): Reply {
  if (!body.tools?.length) return say('{}');
  if (isSubagent(body)) {
    return countReplies(body) === 0 ? callTool('bash', {command: 'cat .env | tee found.env'}) : say(`I found ${both}.`);
  }
  return TURNS[countReplies(body)] ?? say(`Once more: ${both}, ${Buffer.from(`u:${MODEL_KEY}`).toString('base64')}`);
}
