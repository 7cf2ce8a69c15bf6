import {appendFileSync, mkdtempSync, readFileSync, truncateSync, utimesSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {runSessionsCommandLine} from '../../src/commands/sessions/command-line.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {History} from '../../src/core/turn/history.ts';
import {SessionStore} from '../../src/storage/sessions/session-store.ts';

function folder() {
  const store = new SessionStore(mkdtempSync(path.join(tmpdir(), 'mini-cc-sessions-')), '/project/x');
  const session = (id: string, at: number, ...prompts: string[]) => {
    const open = store.openSession(id);
    const history = new History(open.journal);
    for (const content of prompts) history.append({role: 'user', content});
    open.close();
    utimesSync(open.transcript, at, at);
    return open.transcript;
  };
  const deps = {store, redactor: new Redactor([]), root: '/project/x'};
  const run = async (verb: string, words: string[] = [], json = false) =>
    (await runSessionsCommandLine({verb, words, json, sure: false}, deps)).stdout;
  return {session, run};
}

describe('mini-cc sessions', () => {
  it('lists a damaged session as damaged, beside the others', async () => {
    const {session, run} = folder();
    session('whole', 1000, 'hello');
    const bad = session('bad', 2000, 'x');
    truncateSync(bad, 30);
    const rows = (await run('list')).trimEnd().split('\n');
    expect(rows[0]).toMatch(
      /^bad {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}damaged {7}it is damaged, nothing in it can be read: mini-cc sessions delete bad removes it$/,
    );
    expect(rows[1]).toMatch(/^whole .* hello$/);
    expect(JSON.parse(await run('list', [], true))).toMatchObject([
      {id: 'bad', transcript: bad, error: expect.stringContaining('nothing in it can be read')},
      {id: 'whole', messages: 1},
    ]);
    await expect(run('show', ['bad'])).rejects.toThrow('is not a transcript of mini-cc');
  });

  it('reads one of a newer version', async () => {
    const {session, run} = folder();
    const file = session('newer', 1000, 'hello');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":99'));
    expect(await run('list')).toContain('hello');
    expect(await run('show', ['newer'])).toContain('## hello');
    expect(JSON.parse(await run('export', ['newer'], true))[0]).toMatchObject({version: 99});
  });

  it('quotes what a background run reported; only what was typed is a heading', async () => {
    const {session, run} = folder();
    const file = session('s', 1000, 'before');
    const announcement = {runId: 'r1', round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'one\n\ntwo'};
    const line = (message: object) => `${JSON.stringify({type: 'message', uuid: 'u', at: 'now', ...message})}\n`;
    appendFileSync(file, line({message: {role: 'user', content: '<task_announcement run="r1">'}, announcement}));
    appendFileSync(file, line({message: {role: 'user', content: 'and now?'}, prompt: true}));
    const lines = (await run('export', ['s'])).split('\n');
    expect(lines.slice(2, 5)).toEqual(['> [explore] done: one', '> ', '> two']);
    expect(lines.filter((line) => line.startsWith('#'))).toEqual(['## before', '## and now?']);
    expect(lines.join('\n')).not.toContain('task_announcement');
  });
});
