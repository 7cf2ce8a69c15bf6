/** `mini-cc doctor` and `/doctor`: each problem comes with a line that says how to fix it. */
import {mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {wrapReadOnly} from '../support/small-disk.ts';
import {home, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

interface Finding {
  readonly about: string;
  readonly state: string;
  readonly text: string;
  readonly remedy?: string;
}

async function findings(options: Parameters<typeof runCli>[1] = {}, args: readonly string[] = []) {
  const {stdout, stderr, code} = await runCli(['doctor', '--json', ...args], options);
  const all = JSON.parse(stdout) as Finding[];
  return {code, stderr, all, of: (about: string) => all.filter((finding) => finding.about === about)};
}

test('prints one line for each check, and exits with 0 when mini-cc can work', async () => {
  const server = await serve([say('hello')]);
  const {stdout, code} = await runCli(['doctor'], {server});
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(/\s+/)[1])).toEqual([
    ...['key', 'server', 'sandbox', 'ripgrep', 'git', 'terminal', 'home', 'settings'],
  ]);
  expect(lines[0]).toBe('ok  key       ANTHROPIC_API_KEY is set');
  expect(lines[1]).toBe(`ok  server    ${new URL(server.url).host} answers`);
  expect(stdout).not.toContain('test-key');
});

test('writes a file to know whether the home can be written: a read-only one is a failure, and a session does not start', async () => {
  const at = await home();
  const folder = at.env.MINI_CC_HOME!;
  const options = {home: at, cwd: (await project()).path, wrap: wrapReadOnly(folder)};
  const {of, code} = await findings(options);
  expect(of('home')).toEqual([
    {
      about: 'home',
      state: 'missing',
      text: expect.stringContaining(`The file system is read-only: nothing can be written to ${folder}`),
      remedy: 'set MINI_CC_HOME to a folder that can be written',
    },
  ]);
  expect(code).toBe(1);
  const run = await runCli(['-p', 'hello'], options);
  expect(run).toMatchObject({code: 2, stdout: ''});
  expect(run.stderr).toMatch(
    /^mini-cc: The file system is read-only: nothing can be written to \S+ \(.*\)\. Set MINI_CC_HOME .*\n$/,
  );
  expect((await findings({home: at})).of('home')).toMatchObject([{state: 'ok'}]);
  expect(readdirSync(folder).filter((name) => name.includes('draft'))).toEqual([]);
});

test('without a key, a warning says that the offline model answers', async () => {
  const {of, code} = await findings();
  expect(of('key')[0]).toMatchObject({state: 'warning', remedy: expect.stringContaining('ANTHROPIC_API_KEY')});
  expect(code).toBe(0);
});

test('a server that cannot be reached is a failure, exit 1', async () => {
  const {of, code} = await findings({
    env: {ANTHROPIC_BASE_URL: 'http://user:pass-word@127.0.0.1:1', ANTHROPIC_API_KEY: 'sk-test-key-1'},
  });
  const [server] = of('server');
  expect(server).toMatchObject({state: 'missing', text: expect.stringMatching(/^127\.0\.0\.1:1 is not reached: /)});
  expect(JSON.stringify(server)).not.toMatch(/sk-test|pass-word/);
  expect(server?.remedy).toContain('ANTHROPIC_BASE_URL');
  expect(code).toBe(1);
});

test('without bubblewrap, a warning says how to get it; it is a failure when the settings require a sandbox', async () => {
  const at = await home();
  const bin = path.join(at.path, 'bin');
  mkdirSync(bin);
  const {stdout: git = ''} = await execa('sh', ['-c', 'command -v git']);
  symlinkSync(git, path.join(bin, 'git'));
  const options = {home: at, env: {PATH: bin}};
  const optional = await findings(options);
  expect(optional.of('sandbox')[0]).toMatchObject({
    state: 'warning',
    remedy: expect.stringMatching(/^apt-get install bubblewrap(?:$|, and start the container with --security-opt)/),
  });
  expect(optional.code).toBe(0);
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), '{"sandbox": "required"}');
  const required = await findings(options);
  expect(required.of('sandbox')[0]).toMatchObject({
    state: 'missing',
    text: expect.stringContaining('bash runs nothing'),
  });
  expect(required.code).toBe(1);
});

test('a model of the default server needs its key, also where the settings name other providers', async () => {
  const at = await home();
  const glm = {baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'GLM_API_KEY'};
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), JSON.stringify({providers: {glm}}));
  const {of, code} = await findings({home: at}, ['--model', 'claude-opus-4-5']);
  expect(of('key')).toMatchObject([{state: 'missing', text: expect.stringContaining('claude-opus-4-5 needs it')}]);
  expect(code).toBe(1);
});

test('invalid settings are reported with file, line and column', async () => {
  const at = await home();
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), '{"model": 3}');
  const {of, code} = await findings({home: at});
  expect(of('settings')[0]).toMatchObject({
    state: 'missing',
    text: expect.stringMatching(/settings\.json:1:11: model/),
  });
  expect(code).toBe(1);
});

test('settings that are ignored without trust are listed, with how to trust them', async () => {
  const {path: cwd, write} = await project();
  await write('.mini-cc/settings.json', '{"permissions": {"allow": ["bash"]}}');
  const {of, code} = await findings({cwd});
  expect(of('trust')).toEqual([
    {
      about: 'trust',
      state: 'warning',
      text: 'ignored, as this directory is not trusted: .mini-cc/settings.json: permissions.allow',
      remedy: '--trust, or start mini-cc in a terminal, if you trust what they say',
    },
  ]);
  expect(of('settings')).toHaveLength(1);
  expect(code).toBe(0);
});

test('an invalid host in the settings is reported', async () => {
  const at = await home();
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), '{"sandbox": {"allowedHosts": ["http://x/"]}}');
  const {of, code} = await findings({home: at});
  expect(of('sandbox')[0]).toMatchObject({state: 'missing', text: expect.stringContaining('http://x/')});
  expect(code).toBe(1);
});

test('accepts no arguments', async () => {
  expect(await runCli(['doctor', 'please'])).toMatchObject({code: 2, stdout: ''});
});

test('/doctor shows the same lines in the REPL', async () => {
  const terminal = await repl({server: await serve([say('hello')])});
  await send(terminal, '/doctor');
  await terminal.waitFor(/ok\s+ripgrep/);
  expect(terminal.text()).toMatch(/ok\s+key\s+ANTHROPIC_API_KEY is set/);
});
