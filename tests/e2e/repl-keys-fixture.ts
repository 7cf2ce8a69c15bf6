/** One session in a terminal, which a shell started, for tests that press its keys one after the other. */
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {createHome} from '../support/environment.ts';
import {callTool, callTools, type MessagesBody, say, slow, startMessagesServer} from '../support/messages-server.ts';
import {buildOnce, cliEnvironment, cliPath} from '../support/run-cli.ts';
import {startTerminal} from '../support/terminal.ts';
import {typescriptProject} from '../support/workspace.ts';
import {explore, isSubagent} from './fixture.ts';

export const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** What an empty prompt shows. */
export const EMPTY = 'Ask about this project, or /help';

/** What a request tells the model after its last answer. */
export const asked = ({messages}: MessagesBody) =>
  JSON.stringify(messages.slice(messages.findLastIndex(({role}) => role === 'assistant') + 1));

/** The words of the prompt choose the reply. */
function reply(body: MessagesBody) {
  const prompt = asked(body);
  if (isSubagent(body)) return {type: 'hang'} as const;
  if (prompt.includes('write todos')) {
    return callTool('todo_write', {todos: [{content: 'Press all keys', status: 'pending'}]});
  }
  if (prompt.includes('send an agent')) return callTools([explore('look', 'look around')]);
  if (prompt.includes('talk on')) return slow(say('never whole '.repeat(400)), 50);
  if (prompt.includes('count up')) return callTool('bash', {command: 'seq 100'});
  return say(`Answer ${body.messages.length}.`);
}

/** A project with a command, a note and an image of its own, and programs that stand for the editor and the clipboard. */
async function openProject() {
  const [home, workspace] = [await createHome(), await typescriptProject()];
  const bin = path.join(home.path, 'bin');
  const scripts = {
    'wl-paste': `[ -f ${home.path}/copied ] && echo ${ONE_PIXEL} | base64 -d || exit 1`,
    edit: 'printf "%s, edited\\n" "$(cat "$1")" > "$1"',
  };
  mkdirSync(bin);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  const command = '---\ndescription: Ships it\nargument-hint: WHERE\n---\nShip it to $1.\n';
  await workspace.write('.mini-cc/commands/ship.md', command);
  await workspace.write('my notes/to do.md', 'buy milk\n');
  await workspace.write('CLAUDE.md', 'Use tabs.');
  writeFileSync(path.join(workspace.path, 'dot.png'), Buffer.from(ONE_PIXEL, 'base64'));
  const env = {PATH: `${bin}:${process.env.PATH}`, EDITOR: path.join(bin, 'edit'), VISUAL: '', PS1: '$ '};
  return {home, workspace, env};
}

/** Starts a shell, and mini-cc in it. */
export async function startShell() {
  await buildOnce();
  const server = await startMessagesServer(reply);
  const {home, workspace, env} = await openProject();
  const terminal = startTerminal('bash', ['--norc', '--noprofile', '-i'], {
    ...{cwd: workspace.path, rows: 40, env: cliEnvironment(home, {env, server})},
  });
  const screen = () => terminal.screen().join('\n');
  const isRule = (row: string) => /^─{40,}$/.test(row);
  /** What stands between the rules around the prompt. */
  const prompt = (): string => {
    const rows = terminal.screen();
    const lower = rows.findLastIndex(isRule);
    const upper = rows.findLastIndex((row, y) => y < lower && isRule(row));
    // During a turn the prompt shows a drawn cursor, which is a space at its end.
    const typed = rows.slice(upper + 1, lower).map((row) => row.slice(2).trimEnd());
    return upper < 0 ? '' : typed.join('\n');
  };
  /** Waits until the prompt holds exactly this. */
  const holds = (text: string) => terminal.waitFor(() => prompt() === text);
  const type = async (text: string) => {
    terminal.type(text);
    await holds(text);
  };
  /** Sends what stands in the prompt. @returns the request of it */
  const enter = async (): Promise<MessagesBody> => {
    const count = server.requests.length;
    terminal.press('enter');
    await server.waitForRequests(count + 1);
    return server.requests[count]!.body;
  };
  return {
    ...{terminal, server, home, workspace, screen, prompt, holds, type, enter},
    /** Starts mini-cc in the shell. */
    async start() {
      terminal.type(`${process.execPath} ${cliPath}\r`);
      await terminal.waitFor(() => /^default · /m.test(screen()));
    },
    /** Waits until the window shows it. */
    shows: (what: string | RegExp) => terminal.waitFor(() => screen().search(toPattern(what)) >= 0),
    lacks: (what: string) => terminal.waitFor(() => !screen().includes(what)),
    idle: () => terminal.waitFor(() => prompt() === EMPTY && !/Esc interrupts|Esc means/.test(screen())),
    async send(text: string) {
      await type(text);
      return enter();
    },
    /** Types a line that no model is asked about. */
    async command(text: string, answer: string | RegExp) {
      await type(text);
      terminal.press('enter');
      await terminal.waitFor(answer);
    },
    async close() {
      await terminal.close();
      await Promise.all([server.close(), home.remove(), workspace.remove()]);
    },
  };
}

function toPattern(what: string | RegExp): RegExp {
  return typeof what === 'string' ? new RegExp(what.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : what;
}
