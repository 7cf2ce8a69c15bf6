/** Two keys that must never be seen, a project whose `.env` holds them, and a model that does all it can to spread them. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {turnOf} from '../support/request-facts.ts';
import {callTool, callTools, thinkingThen} from '../support/scripted-replies.ts';
import type {Workspace} from '../support/workspace.ts';
import {isSubagent, project} from './fixture.ts';

export const OWN = 'sk-ant-canary-0wn+1a2b3c4d/5e6f7g8h9i0jklmnop';
export const OTHER = 'foo-canary-0ther.1a2b3c4d5e6f7g8h9i0jklm';
export const KEYS = {ANTHROPIC_API_KEY: OWN, FOO_API_KEY: OTHER};
export const DOT_ENV = `ANTHROPIC_API_KEY=${OWN}\nFOO_API_KEY="${OTHER}"\n`;

/** So much of a key in one place is taken for the key. */
const TELLING = 16;

/** Pieces of the keys that stand in the text. */
export function leaksIn(text: string): string[] {
  return [OWN, OTHER].flatMap((key) =>
    Array.from({length: key.length - TELLING + 1}, (_, at) => key.slice(at, at + TELLING)).filter((piece) =>
      text.includes(piece),
    ),
  );
}

/** What the user's files held, and worktrees of them: to be put back byte for byte. */
const USERS_OWN = /\/(?:checkpoints\/(?:files|git)|worktrees)\//;

/** Files below a folder that hold a piece of a key, in their names too; but for copies of the user's files. */
export function leakyFiles(folder: string): string[] {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !USERS_OWN.test(file))
    .filter((file) => leaksIn(file).length > 0 || leaksIn(readFileSync(file, 'latin1')).length > 0);
}

export async function projectWithKeys(): Promise<Workspace> {
  const workspace = await project();
  await workspace.write('.env', DOT_ENV);
  return workspace;
}

const both = `${OWN} and ${OTHER}`;
const task = (background: boolean) => ({
  name: 'Task',
  input: {
    description: `look for ${OWN}`,
    prompt: `find ${both}`,
    agent_type: 'code',
    label: `at ${OTHER}`,
    background,
  },
});

/** What the main agent's model says, turn by turn. */
const TURNS: readonly Reply[] = [
  thinkingThen(
    `I think of ${both}`,
    callTools(
      [
        {name: 'read_file', input: {path: '.env'}},
        {name: 'bash', input: {command: `cat .env; echo "[$ANTHROPIC_API_KEY]" ${OWN}; base64 .env; exit 3`}},
        {name: 'read_file', input: {path: `missing/${OWN}`}},
        {name: 'grep', input: {pattern: OTHER}},
      ],
      `Your keys are ${both}.`,
    ),
  ),
  callTools([
    // Past the cap: the whole is kept in a file.
    {name: 'bash', input: {command: `for i in $(seq 900); do echo "$i ${OWN} ${OTHER}"; done; sleep 0.3`}},
    {name: 'bash', input: {command: `echo ${'x'.repeat(60)} ${OWN}`}},
    {name: 'write_file', input: {path: 'copy.env', content: DOT_ENV}},
    {name: 'edit_file', input: {path: 'README.md', old_string: 'Greeter', new_string: OWN}},
    {name: 'todo_write', input: {todos: [{content: `hide ${OWN}`, status: 'in_progress'}]}},
  ]),
  callTools([task(false), task(true)]),
];

/** Where the conversation goes on after the last turn, it says the keys once more. */
export function spreadingModel(body: MessagesBody): Reply {
  if (!body.tools?.length) return say('{}');
  if (isSubagent(body)) {
    return turnOf(body) === 0 ? callTool('bash', {command: 'cat .env | tee found.env'}) : say(`I found ${both}.`);
  }
  return TURNS[turnOf(body)] ?? say(`Once more: ${both}, ${Buffer.from(`u:${OWN}`).toString('base64')}`);
}
