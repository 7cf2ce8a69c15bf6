/** What end-to-end tests share: a server, a project and a home that go with the test. */

import {randomInt} from 'node:crypto';
import {existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {createHome, type Home} from '../support/environment.ts';
import {type MessagesServer, type Script, startMessagesServer} from '../support/messages-server.ts';
import {typescriptProject, type Workspace} from '../support/workspace.ts';

export async function serve(script: Script): Promise<MessagesServer> {
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  return server;
}

export async function project(): Promise<Workspace> {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  return workspace;
}

export async function home(): Promise<Home> {
  const made = await createHome();
  onTestFinished(made.remove);
  return made;
}

export const explore = (prompt = 'look', description = 'explore codebase') => ({
  name: 'Task',
  input: {description, prompt, agent_type: 'explore'},
});
export const isSubagent = (body: {tools?: readonly {name: string}[]}) =>
  !body.tools?.some((tool) => tool.name === 'Task');

/** A command that no other test has, nor another run of the tests on this machine. */
export const uniqueSleep = () => `sleep ${randomInt(100_000, 1_000_000_000)}`;

/** @returns the processes whose command line is just this */
export async function processesWith(command: string): Promise<string[]> {
  return (await processesNaming(command)).filter((line) => line === command);
}

/** @returns the processes whose command line has this in it, such as the shell that runs it */
export async function processesNaming(command: string): Promise<string[]> {
  const {execa} = await import('execa');
  const {stdout} = await execa('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(command));
}

/** A folder with all programs of the search path but one. */
export function searchPathWithout(missing: string): string {
  const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-bin-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  for (const place of ['/usr/local/bin', '/usr/bin', '/bin'].filter((each) => existsSync(each))) {
    for (const name of readdirSync(place)) {
      const link = path.join(folder, name);
      if (name !== missing && !existsSync(link)) symlinkSync(path.join(place, name), link);
    }
  }
  return folder;
}
