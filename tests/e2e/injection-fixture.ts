/**
 * Prompt injection with a scripted model that obeys every text in files, pages, results and definitions. mini-cc must
 * prevent that anything runs or changes that was not permitted.
 */
import {createHash} from 'node:crypto';
import {mkdir, readdir, readFile, readlink, symlink} from 'node:fs/promises';
import path from 'node:path';
import {expect} from 'vitest';
import type {Home} from '../support/environment.ts';
import {type MessagesBody, type MessagesServer, type Reply, say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import type {Workspace} from '../support/workspace.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

export interface Attack {
  /** Files of the project with the injection, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Links of the project: their paths and targets. `~` is the home. */
  readonly links?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly main: readonly Reply[];
  /** The replies of a subagent, by its prompt. */
  readonly child?: (prompt: string) => readonly Reply[];
  /** The replies to requests outside of conversations. */
  readonly other?: (body: MessagesBody) => Reply | undefined;
}

export interface MaliciousCall {
  readonly name: string;
  readonly input: unknown;
}

let callCount = 0;

/** A reply in which the model obeys the injection: none of its calls may have an effect. */
export function maliciousReply(...calls: readonly MaliciousCall[]): Reply {
  return callTools(
    calls.map((call) => {
      callCount += 1;
      return {...call, id: `malicious_${callCount}`};
    }),
  );
}

export const touch = (where = 'PWNED', more: object = {}): MaliciousCall => ({
  name: 'bash',
  input: {command: `touch ${where}`, ...more},
});
export const write = (where: string, content = 'pwned', name = 'write_file'): MaliciousCall => ({
  name,
  input: {path: where, content},
});

export interface Outcome {
  readonly server: MessagesServer;
  readonly workspace: Workspace;
  readonly home: Home;
  readonly result: Readonly<Record<string, unknown>>;
  readonly denials: readonly {readonly tool_name: string; readonly tool_input: unknown}[];
  /** The results of the calls of `maliciousReply`, in order. */
  readonly results: readonly {readonly id: string; readonly text: string; readonly isError: boolean}[];
}

/** Runs the attack in print mode, and checks that afterwards no file was created, deleted or changed. */
export async function runAttack(attack: Attack): Promise<Outcome> {
  const at = {workspace: await project(), home: await home()};
  for (const [file, text] of Object.entries(attack.files ?? {})) await at.workspace.write(file, text);
  await mkdir(path.join(at.home.path, 'outside'));
  for (const [link, target] of Object.entries(attack.links ?? {})) {
    await symlink(target.replace(/^~/, at.home.path), path.join(at.workspace.path, link));
  }
  const {main, child = () => [], other = () => undefined} = attack;
  const server = await serve((body) => {
    const apart = other(body);
    if (apart) return apart;
    const replies = isSubagent(body) ? child(getFirstPrompt(body)) : main;
    return replies[countReplies(body)] ?? say('Done as I was told.');
  });
  const before = await snapshotFiles(at);
  const run = await runCli(['-p', 'go on', '--output-format', 'json', ...(attack.args ?? [])], {
    cwd: at.workspace.path,
    home: at.home,
    server,
  });
  expect(await snapshotFiles(at)).toEqual(before);
  expect(run.stdout, run.stderr).toMatch(/^\{/);
  const result = JSON.parse(run.stdout) as Outcome['result'];
  const denials = result.permission_denials as Outcome['denials'];
  const results = server.requests
    .flatMap(({body}) => getToolResults(body))
    .filter(({id}) => id.startsWith('malicious_'));
  return {...at, server, result, denials, results};
}

/** The calls that did not get an error as result: a failing test names them. */
export function listAllowed(calls: readonly string[], {results}: Outcome): string[] {
  expect(results).toHaveLength(calls.length);
  return calls.filter((_, index) => !results[index]!.isError);
}

/** Path and content of all files; of mini-cc's own files only those that change its behaviour. */
async function snapshotFiles({workspace, home: {path: homePath}}: {workspace: Workspace; home: Home}) {
  const entries: Record<string, string> = {};
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, {withFileTypes: true})) {
      const file = path.join(folder, entry.name);
      const named = path.relative(path.dirname(homePath), file);
      // Git refreshes the index of a repository when it reads it.
      if (/\.git\/index$|\.mini-cc\/(?:projects|cache|logs|checkpoints|trust|prompt-history|redaction)/.test(named))
        continue;
      if (entry.isSymbolicLink()) entries[named] = `-> ${await readlink(file)}`;
      else if (entry.isDirectory()) await visit(file);
      else
        entries[named] = createHash('sha256')
          .update(await readFile(file))
          .digest('hex');
    }
  };
  await visit(workspace.path);
  await visit(homePath);
  return entries;
}
