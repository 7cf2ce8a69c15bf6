/** The editor's own files: what a person typed and did not save, read and written by agents through the editor. */
import {existsSync, mkdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ClientCapabilities} from '@agentclientprotocol/sdk/unstable';
import {describe, expect, it} from 'vitest';
import {processesNaming, project, serve} from '../e2e/fixture.ts';
import type {MessagesBody, MessagesServer, Script} from '../support/messages-server.ts';
import {callTool, say} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {choose, startAcp} from './acp-client.ts';

const WITH_FILES: ClientCapabilities = {fs: {readTextFile: true, writeTextFile: true}};

/** An editor with a project open, in which `a.txt` is on disk and has other text in the editor, if `unsaved` says so. */
async function openEditor(
  steps: Script,
  {
    unsaved = {},
    args = [],
    can = WITH_FILES,
  }: {unsaved?: Record<string, string>; args?: string[]; can?: ClientCapabilities} = {},
) {
  const server = await serve(steps);
  const cwd = realpathSync((await project()).path);
  writeFileSync(path.join(cwd, 'a.txt'), 'one\ntwo\n');
  const acp = await startAcp(['--permission-mode', 'acceptEdits', ...args], {server}, can);
  const buffers = new Map(Object.entries(unsaved).map(([name, text]) => [path.join(cwd, name), text]));
  const calls: string[] = [];
  acp.files = {
    read(file) {
      calls.push(`read ${path.relative(cwd, file)}`);
      return buffers.get(file) ?? readFileSync(file, 'utf8');
    },
    write(file, text) {
      calls.push(`write ${path.relative(cwd, file)}`);
      buffers.delete(file);
      writeFileSync(file, text);
    },
  };
  const sessionId = await acp.open(cwd);
  const onDisk = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return {server, cwd, acp, calls, buffers, onDisk, prompt: (text: string) => acp.prompt(sessionId, text)};
}

/** @returns the text of the results that the model got, in their order */
function results(server: MessagesServer): string[] {
  const {messages} = server.requests.at(-1)!.body;
  const blocks = messages.flatMap(({content}) => (typeof content === 'string' ? [] : content));
  return blocks.filter(({type}) => type === 'tool_result').map(({content}) => JSON.stringify(content));
}

const read = (file = 'a.txt') => callTool('read_file', {path: file});
const edit = (from: string, to: string, file = 'a.txt') =>
  callTool('edit_file', {path: file, old_string: from, new_string: to});

describe('an editor that gives and takes the text of its files', () => {
  it('lets agents read and edit what is not saved, and undo brings back what was on disk', async () => {
    const {server, acp, calls, onDisk, prompt} = await openEditor(
      [read(), edit('three', 'four'), callTool('write_file', {path: 'new/b.txt', content: 'b\n'}), say('Done.')],
      {unsaved: {'a.txt': 'one\ntwo\nthree\n'}},
    );
    await prompt('change it');
    const [shown, edited, written] = results(server);
    expect(shown).toMatch(/three.*unsaved changes/s);
    expect([edited, written]).toEqual([
      expect.stringContaining('Edited a.txt'),
      expect.stringContaining('Created new/b.txt'),
    ]);
    expect(edited).not.toMatch(/\(The editor/);
    expect([onDisk('a.txt'), onDisk('new/b.txt')]).toEqual(['one\ntwo\nfour\n', 'b\n']);
    expect(calls).toEqual(expect.arrayContaining(['read a.txt', 'write a.txt', 'write new/b.txt']));
    expect(acp.of('tool_call_update').flatMap(({content}) => content ?? [])).toContainEqual(
      expect.objectContaining({type: 'diff', oldText: 'one\ntwo\nthree', newText: 'one\ntwo\nfour'}),
    );
    const from = acp.updates.length;
    await prompt('/rewind 1 files');
    expect(acp.said(from)).toContain('a.txt');
    expect(onDisk('a.txt')).toBe('one\ntwo\n');
  });

  it('refuses an edit of what the person typed over meanwhile, and says when the editor saved nothing, or another text', async () => {
    const {server, acp, buffers, cwd, onDisk, prompt} = await openEditor([
      ...[read(), edit('two', 'three'), say('Stale.')],
      ...[read(), edit('typed', 'kept'), edit('kept', 'kept here'), say('Not saved.')],
      ...[callTool('write_file', {path: 'c.txt', content: 'c'}), edit('c', 'd', 'c.txt'), say('Formatted.')],
    ]);
    const file = path.join(cwd, 'a.txt');
    const {write} = acp.files;
    acp.answer = async () => choose('yes');
    const seen = acp.files.read;
    let reads = 0;
    acp.files.read = (name) => {
      reads += 1;
      if (reads === 2) buffers.set(file, 'one\ntyped\n');
      return seen(name);
    };
    await prompt('edit it');
    expect(results(server).at(-1)).toMatch(/changed since you read it/);
    acp.files.write = (name, text) => void buffers.set(name, text);
    await prompt('again');
    expect(results(server).slice(-2)).toEqual([
      expect.stringMatching(/Edited a.txt.*has not saved it/s),
      expect.stringMatching(/Edited a.txt.*has not saved it/s),
    ]);
    expect([buffers.get(file), onDisk('a.txt')]).toEqual(['one\nkept here\n', 'one\ntwo\n']);
    acp.files.write = (name, text) => write(name, `${text} formatted\n`);
    await prompt('and c');
    expect(results(server).slice(-2)).toEqual([
      expect.stringMatching(/saved another text/),
      expect.stringMatching(/changed since you read it/),
    ]);
  });

  it('is asked neither for files outside of the workspace nor for what a link leads to, and its refusal is an error', async () => {
    const outside = realpathSync((await project()).path);
    writeFileSync(path.join(outside, 'secret.txt'), 'outside\n');
    const {server, acp, calls, cwd, onDisk, prompt} = await openEditor([
      callTool('read_file', {path: path.join(outside, 'secret.txt')}),
      read('link.txt'),
      read('inner.txt'),
      edit('two', 'three', 'inner.txt'),
      say('Done.'),
    ]);
    symlinkSync(path.join(outside, 'secret.txt'), path.join(cwd, 'link.txt'));
    symlinkSync('a.txt', path.join(cwd, 'inner.txt'));
    acp.answer = async ({toolCall}) => choose(/secret\.txt/.test(JSON.stringify(toolCall)) ? 'yes' : 'no');
    acp.files.write = () => {
      throw new Error('this editor is read-only');
    };
    await prompt('look');
    const [whole, , inner, edited] = results(server);
    expect([whole, inner]).toEqual([expect.stringContaining('outside'), expect.stringContaining('two')]);
    expect(edited).toMatch(/The editor did not write .*a\.txt/);
    expect([...new Set(calls)]).toEqual(['read a.txt']);
    expect(onDisk('a.txt')).toBe('one\ntwo\n');
  });

  it('is not believed about a file that became a link, or another file, while it was asked', async () => {
    const outside = realpathSync((await project()).path);
    mkdirSync(path.join(outside, 'sub'));
    for (const name of ['secret.txt', 'sub/b.txt'])
      writeFileSync(path.join(outside, name), 'outside, and not to be seen\n');
    const {server, acp, cwd, prompt} = await openEditor([read(), read('c.txt'), read('sub/b.txt'), say('Done.')]);
    mkdirSync(path.join(cwd, 'sub'));
    writeFileSync(path.join(cwd, 'sub/b.txt'), 'inside\n');
    writeFileSync(path.join(cwd, 'c.txt'), 'as it was opened\n');
    const {read: seen} = acp.files;
    acp.files.read = (file) => {
      if (path.basename(file) === 'c.txt') {
        renameSync(path.join(cwd, 'package.json'), file);
        return seen(file);
      }
      const [swapped, target] = path.basename(file) === 'a.txt' ? [file, 'secret.txt'] : [path.dirname(file), 'sub'];
      renameSync(swapped, `${swapped}.before`);
      symlinkSync(path.join(outside, target), swapped);
      return seen(file);
    };
    await prompt('read');
    expect(results(server)).toEqual(['two', 'as it was opened', 'inside'].map((text) => expect.stringContaining(text)));
    expect(JSON.stringify(server.requests)).not.toContain('not to be seen');
    expect(cwd).not.toBe(outside);
  });

  it('is not asked while a command runs that could put a link there', async () => {
    let command = '';
    const script = ({messages}: MessagesBody) => {
      const said = JSON.stringify(messages.at(-1)!.content);
      if (said.includes('tool_result')) return say('Done.');
      if (said.includes('begin')) return callTool('bash', {command, background: true});
      return said.includes('look at it') ? read() : say('Noted.');
    };
    const args = ['--allowed-tools', 'bash'];
    const {server, calls, cwd, prompt} = await openEditor(script, {unsaved: {'a.txt': 'unsaved\n'}, args});
    command = `touch began; until test -e ${cwd}/stop; do sleep 0.1; done`;
    await prompt('begin');
    await until(() => existsSync(path.join(cwd, 'began')), 'the command');
    await prompt('look at it');
    expect(results(server).at(-1)).toContain('two');
    expect(calls).toEqual([]);
    writeFileSync(path.join(cwd, 'stop'), '');
    await until(async () => (await processesNaming(`${cwd}/stop`)).length === 0, 'its end');
    // mini-cc notices the end of the command a moment later.
    await until(async () => {
      await prompt('look at it again');
      return results(server).at(-1)!.includes('unsaved');
    }, 'the content of the editor');
  });

  it.each([{}, {fs: {readTextFile: false, writeTextFile: true}}])('is not asked when it says %j', async (can) => {
    const {server, calls, onDisk, prompt} = await openEditor([read(), edit('two', 'three'), say('Done.')], {
      can,
      unsaved: {'a.txt': 'unsaved\n'},
    });
    await prompt('change it');
    expect(results(server)[0]).toContain('two');
    expect([calls, onDisk('a.txt')]).toEqual([[], 'one\nthree\n']);
  });
});
