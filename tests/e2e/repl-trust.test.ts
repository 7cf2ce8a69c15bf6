/** The question whether a directory is trusted, which comes before the session is open. */
import {existsSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {type AnswerKey, answer} from '../support/questions.ts';
import {startCli} from '../support/run-cli.ts';
import type {Terminal} from '../support/terminal.ts';
import {home, project, serve} from './fixture.ts';

const KEY = 'sk-ant-canary-0123456789';
const SETTINGS = '.mini-cc/settings.json';
const QUESTION = 'Do you trust what the files of this directory ask for?';
const READY = /^default · /m;
const IGNORED =
  /ignored, as this directory is not trusted: \.mini-cc\/settings\.json: permissions\.allow\. [^:]*: mini-cc\s--trust/;

async function untrustedProject(settings: unknown = {permissions: {allow: ['bash']}}) {
  const [work, user] = [await project(), await home()];
  await work.write(SETTINGS, JSON.stringify(settings));
  const server = await serve(() => say('The answer.'));
  return {
    ...work,
    server,
    trustFile: path.join(user.path, '.mini-cc/trust.json'),
    start: async (args: readonly string[] = [], size: {cols?: number; rows?: number} = {}): Promise<Terminal> => {
      const terminal = await startCli(args, {
        cwd: work.path,
        home: user,
        server,
        cols: 120,
        env: {ANTHROPIC_API_KEY: KEY},
        ...size,
      });
      onTestFinished(terminal.close);
      return terminal;
    },
  };
}

async function decide(terminal: Terminal, key: AnswerKey): Promise<void> {
  await answer(terminal, QUESTION, key);
  await terminal.waitFor(READY);
}

async function leave(terminal: Terminal): Promise<void> {
  terminal.press('ctrl-d');
  expect(await terminal.waitForExit()).toMatchObject({code: 0});
}

describe('the question whether a directory is trusted', () => {
  it('shows the directory and each key with its value; Enter means no for this start', async () => {
    const at = await untrustedProject();
    const terminal = await at.start();
    await terminal.waitFor('Enter and Esc mean no');
    expect(terminal.text()).toContain(at.path);
    expect(terminal.text()).toMatch(/\.mini-cc\/settings\.json\s+permissions\.allow: \["bash"\]$/m);
    expect(terminal.text()).toMatch(/1 yes, until it changes\s+2 no, ignore it this time\s+3 no, and ask again only/);
    await decide(terminal, 'enter');
    await terminal.waitFor(IGNORED);
    expect(existsSync(at.trustFile)).toBe(false);
    await leave(terminal);
    await (await at.start()).waitFor(QUESTION);
  });

  it('is asked once: after yes it is asked again only for a value that changed', async () => {
    const at = await untrustedProject();
    const first = await at.start();
    await decide(first, '1');
    expect(first.text()).not.toMatch(/ignored/);
    await leave(first);
    const second = await at.start();
    await second.waitFor(READY);
    expect(second.text()).not.toContain(QUESTION);
    await leave(second);
    await at.write(SETTINGS, JSON.stringify({permissions: {allow: ['bash']}, hooks: {Stop: []}}));
    const third = await at.start();
    await third.waitFor('hooks: {"Stop":[]}');
    expect(third.text()).not.toContain('permissions.allow');
    await decide(third, 'escape');
    await third.waitFor(/ignored, as .*: hooks\. /);
    await leave(third);
    await at.write(SETTINGS, JSON.stringify({permissions: {allow: ['bash', 'grep']}}));
    const fourth = await at.start();
    await fourth.waitFor('permissions.allow (changed since you trusted it): [');
  });

  it('can be answered with a lasting no: then a notice says what is ignored, and how to change that', async () => {
    const at = await untrustedProject();
    const first = await at.start();
    await decide(first, '3');
    await leave(first);
    const second = await at.start();
    await second.waitFor(READY);
    await second.waitFor(IGNORED);
    expect(second.text()).not.toContain(QUESTION);
    await leave(second);
    const third = await at.start(['--trust']);
    await third.waitFor('trusted from now on: .mini-cc/settings.json: permissions.allow');
    expect(third.text()).not.toContain(QUESTION);
  });

  it('leaves typed text to the prompt, which is sent when the session is open', async () => {
    const at = await untrustedProject();
    const terminal = await at.start();
    await terminal.waitFor(/^> /m);
    terminal.type('explain it');
    await terminal.waitFor(QUESTION);
    terminal.type(' in 2 words');
    await terminal.waitFor('> explain it in 2 words');
    terminal.press('enter');
    // The prompt is queued, and the question is still shown.
    await terminal.waitFor((now) => /^> Ask/m.test(now.screen().join('\n')));
    expect([at.server.requests, READY.test(terminal.text())]).toEqual([[], false]);
    await decide(terminal, 'enter');
    await terminal.waitFor('The answer.');
    expect(JSON.stringify(at.server.requests[0]?.body.messages)).toContain('explain it in 2 words');
  });

  it('is answered before the prompt of the command line is sent', async () => {
    const at = await untrustedProject();
    const terminal = await at.start(['what is here?']);
    await terminal.waitFor(QUESTION);
    expect(at.server.requests).toEqual([]);
    await decide(terminal, '2');
    await terminal.waitFor('The answer.');
  });

  it('trusts the values that it showed, not values that changed before the answer', async () => {
    const at = await untrustedProject();
    const terminal = await at.start();
    await terminal.waitFor('Enter and Esc mean no');
    writeFileSync(path.join(at.path, SETTINGS), JSON.stringify({permissions: {allow: ['bash', 'write_file']}}));
    await decide(terminal, '1');
    await terminal.waitFor(IGNORED);
  });

  it('prints long values in full above it, with known keys redacted and control characters visible', async () => {
    const fast = Array.from({length: 60}, (_, index) => `check part ${index}`);
    const mcpServers = {x: {env: {KEY}}};
    const at = await untrustedProject({mcpServers, verify: {fast: ['\u001b[2J\u202Eevil', ...fast]}});
    const terminal = await at.start([], {rows: 20});
    await terminal.waitFor('Enter and Esc mean no');
    for (const line of fast) expect(terminal.text()).toContain(`"${line}"`);
    expect(terminal.text()).toContain('u001b[2J');
    expect(terminal.text()).toMatch(/mcpServers\.x: .*"KEY":/);
    expect(terminal.text()).not.toContain(KEY);
    expect(terminal.text()).toContain('\\u202Eevil');
    expect(terminal.raw()).not.toContain('\u202E');
  });

  it.each([
    ['Ctrl+D', (terminal: Terminal) => terminal.press('ctrl-d'), 0],
    ['a signal', (terminal: Terminal) => process.kill(terminal.pid, 'SIGTERM'), 143],
  ])('can be left by %s, and then nothing is trusted', async (_, way, code) => {
    const at = await untrustedProject();
    const terminal = await at.start();
    await terminal.waitFor(QUESTION);
    way(terminal);
    expect(await terminal.waitForExit()).toMatchObject({code});
    expect(terminal.text()).not.toMatch(/left before|error/);
    expect(existsSync(at.trustFile)).toBe(false);
  });

  it('is not asked when no setting needs trust', async () => {
    const at = await untrustedProject({permissions: {deny: ['bash']}, model: 'opus'});
    const terminal = await at.start();
    await terminal.waitFor(READY);
    expect(terminal.text()).not.toContain(QUESTION);
  });
});
