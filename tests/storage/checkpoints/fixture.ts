/** A workspace with real files and git, and the checkpoints of a session beside it. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Writer} from '../../../src/core/contract/checkpoints.ts';
import {byAgent} from '../../../src/storage/checkpoints/changes.ts';
import {CheckpointStore} from '../../../src/storage/checkpoints/checkpoint-store.ts';
import {restoreFiles} from '../../../src/storage/checkpoints/restore.ts';

export const CODE: Writer = {agentId: 'run-1', label: '[code] refactor auth'};
export const OTHER: Writer = {agentId: 'run-2', label: '[code] other'};
const UNDO: Writer = {agentId: 'undo', label: '/subagents undo'};

export function workspace(files: Readonly<Record<string, string>> = {}, {git = true} = {}) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'checkpoints-')));
  const root = path.join(base, 'project');
  const home = path.join(base, 'home');
  mkdirSync(root);
  const at = (name: string) => path.join(root, name);
  const put = (name: string, text: string | Buffer) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    writeFileSync(at(name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  const run = (command: string) => execFileSync('bash', ['-c', command], {cwd: root, encoding: 'utf8'});
  if (git) run('git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x');
  const reasons: string[] = [];
  const open = () =>
    new CheckpointStore({
      sessionFolder: () => path.join(home, 'session'),
      root,
      home,
      redact: (label) => label,
      onNone: (why) => void reasons.push(why),
    });
  const store = open();
  /** A tool writes the file. */
  const write = async (name: string, text: string | Buffer, by = CODE, checkpoints = store) => {
    await checkpoints.beforeWrite(by, at(name));
    put(name, text);
    await checkpoints.afterWrite(by, at(name));
  };
  /** A command runs. @returns the names of what it changed. */
  const command = async (line: string, by = CODE, checkpoints = store) => {
    const {compared} = await checkpoints.around(by, (saved) => saved.then(() => run(line)));
    const {changed, uncounted} = await compared;
    return uncounted ?? changed.map((file) => path.relative(root, file)).sort();
  };
  /** @returns names, each with what was done or why not. */
  const undo = async (by = CODE, checkpoints = store) => {
    const {restored, left} = await restoreFiles(checkpoints.current, byAgent(by.agentId), {
      by: UNDO,
      command: {undo: `/subagents undo ${by.agentId}`},
    });
    const facts = [...restored.map((one) => [one.path, one.how]), ...left.map((one) => [one.path, one.why])];
    return Object.fromEntries(facts.map(([file = '', what = '']) => [path.relative(root, file), what]));
  };
  return {base, root, home, at, put, run, store, open, reasons, write, command, undo};
}
