/** Plugins in the built program: installed from folders and repositories, used, changed behind the user's back, removed. */
import {execFileSync} from 'node:child_process';
import {appendFileSync, existsSync, readdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {serve} from '../../e2e/fixture.ts';
import {idle, repl, send} from '../../e2e/repl-fixture.ts';
import {answer} from '../../support/questions.ts';
import {callTools, say} from '../../support/scripted-replies.ts';
import {setUp, toRepository, write} from './fixture.ts';

const BRINGS = {
  agents: ['demo:looker'],
  commands: ['demo:hello'],
  skills: ['demo:knots'],
  hooks: ['UserPromptSubmit'],
  mcpServers: ['plugin:demo:notes'],
};
const ran = (mark: string) => readdirSync(path.dirname(mark)).filter((name) => name.startsWith('ran-'));

it('installs from a marketplace after a yes to what it brings; a session uses all of it; remove takes it away', async () => {
  const {market, mark, run, plugins, cwd, home} = await setUp();
  expect((await run(['plugin', 'marketplace', 'add', market])).stdout).toBe(
    'Added the marketplace shop, with 1 plugin.\n',
  );
  const unasked = await run(['plugin', 'install', 'demo@shop']);
  expect(unasked).toMatchObject({code: 2, stderr: expect.stringMatching(/nobody can be asked here: --yes/)});
  for (const line of [
    /hook UserPromptSubmit runs code: "\$\{CLAUDE_PLUGIN_ROOT\}\/hook\.sh"/,
    /MCP server plugin:demo:notes runs code: .*server\.mjs/,
    /command \/demo:hello; runs touch .*ran-command; allows Bash\(touch:\*\)/,
    /agent demo:looker: (?:reads only; )?tools read_file, grep/,
  ])
    expect(unasked.stderr).toMatch(line);
  expect(await plugins()).toEqual([]);
  expect((await run(['plugin', 'install', 'demo', '--yes'])).code).toBe(0);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(await plugins()).toEqual([
    {name: 'demo', marketplace: 'shop', version: '1.0.0', enabled: true, hash, brings: BRINGS},
  ]);
  expect(ran(mark)).toEqual([]);

  const calls = [
    {name: 'mcp__plugin_demo_notes__echo', input: {text: 'x'}},
    {name: 'Skill', input: {skill: 'demo:knots'}},
    {name: 'Task', input: {description: 'look', prompt: 'look', agent_type: 'demo:looker'}},
  ];
  const server = await serve((body) => {
    if (JSON.stringify(body.system).includes('You look.')) return say('looked');
    return JSON.stringify(body.messages).includes('tool_result') ? say('done') : callTools(calls);
  });
  const used = await run(['-p', '/demo:hello Ada', '--allowed-tools', 'mcp__plugin_demo_notes', 'Task'], {server});
  expect(used).toMatchObject({code: 0, stdout: 'done\n'});
  const first = JSON.stringify(server.requests[0]!.body.messages);
  expect(first).toMatch(/Say hello to Ada from \S*plugins\/installed\/demo@shop\//);
  expect(first).toContain('the hook of ');
  const results = JSON.stringify(server.requests.at(-1)!.body.messages.at(-1));
  for (const text of ['you said x', 'Tie a bowline.', 'looked']) expect(results).toContain(text);
  expect(ran(mark).toSorted()).toEqual(['ran-command', 'ran-hook', 'ran-server']);

  expect((await run(['plugin', 'disable', 'demo'])).stdout).toMatch(/demo@shop is off/);
  const bare = await serve([say('bare')]);
  await run(['-p', 'hi'], {server: bare});
  expect(JSON.stringify(bare.requests[0]!.body)).not.toMatch(/demo/);
  expect((await run(['plugin', 'remove', 'demo@shop'])).stdout).toBe('Removed demo@shop.\n');
  expect(readdirSync(path.join(home.path, '.mini-cc/plugins/installed'))).toEqual([]);
  expect((await run(['plugin', 'remove', 'demo'])).code).toBe(2);
  expect(existsSync(path.join(cwd, '.mini-cc'))).toBe(false);
});

it('runs nothing of a hostile plugin before the yes, leaves links and pipes out, and follows no path out', async () => {
  const {market, plugin, mark, run, plugins, top} = await setUp();
  writeFileSync(path.join(top, 'secret.md'), 'a secret of the user');
  symlinkSync(path.join(top, 'secret.md'), path.join(plugin, 'commands/stolen.md'));
  symlinkSync(top, path.join(plugin, 'skills/all'));
  execFileSync('mkfifo', [path.join(plugin, 'agents/pipe.md')]);
  write(path.join(plugin, '.claude-plugin/plugin.json'), {
    ...{name: 'demo', version: '1', commands: ['../../../secret.md', '/etc/passwd'], mcpServers: '../../../x.json'},
  });
  const entries = ['../..', '/etc', './plugins/../../', 'plugins/none'].map((source, at) => ({name: `p${at}`, source}));
  const all = [{name: 'demo', source: './plugins/demo'}, {name: 'a/b', source: './x'}, ...entries];
  write(path.join(market, '.claude-plugin/marketplace.json'), {name: 'shop', owner: {name: 'x'}, plugins: all});
  // A repository whose hooks, filters and links run when it is checked out.
  write(path.join(market, '.gitattributes'), '* filter=evil\n');
  const bare = toRepository(market, top);
  for (const hook of ['post-checkout', 'pre-receive', 'post-upload-pack']) {
    writeFileSync(path.join(bare, 'hooks', hook), `#!/bin/sh\ntouch ${mark}-git\n`, {mode: 0o755});
  }
  const added = await run(['plugin', 'marketplace', 'add', bare]);
  expect(added.stdout).toMatch(/Added the marketplace shop, with 5 plugins\.\n.*"a\/b".*is no name/);
  const out = await run(['plugin', 'install', 'demo@shop']);
  expect(out.code).toBe(2);
  expect(out.stderr).toMatch(/commands: \.\.\/\.\.\/\.\.\/secret\.md leads out of the plugin/);
  expect(out.stderr).not.toContain('a secret of the user');
  for (const at of [0, 1, 2]) {
    expect((await run(['plugin', 'install', `p${at}`, '--yes'])).stderr).toMatch(/leads out of its marketplace/);
  }
  expect((await run(['plugin', 'install', 'p3', '--yes'])).stderr).toMatch(/has no folder/);
  // The folder itself has a pipe, which is neither waited for nor copied.
  const direct = await run(['plugin', 'install', plugin, '--yes']);
  expect(direct).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/agents\/pipe\.md is no regular file: it is left out/),
  });
  expect(direct.stderr).toMatch(/commands\/stolen\.md is a link: it is left out/);
  expect((await plugins())[0].brings.commands).toEqual(['demo:hello']);
  expect(ran(mark)).toEqual([]);
});

it('updates after a yes to the differences, and does not use files that changed behind the user’s back', async () => {
  const {market, plugin, mark, run, plugins, top, home} = await setUp();
  const bare = toRepository(market, top);
  await run(['plugin', 'marketplace', 'add', `file://${bare}`]);
  await run(['plugin', 'install', 'demo', '--yes']);
  expect((await run(['plugin', 'update'])).stdout).toBe('demo@shop is up to date.\n');
  const [{hash}] = await plugins();
  write(path.join(plugin, 'commands/bye.md'), 'Say bye.');
  execFileSync('git', ['add', '-A'], {cwd: market});
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'y'], {cwd: market});
  execFileSync('git', ['push', '-q', bare, 'HEAD:main'], {cwd: market});
  const unasked = await run(['plugin', 'update', 'demo']);
  expect(unasked).toMatchObject({code: 2, stderr: expect.stringMatching(/Changes:\n {2}new: commands\/bye\.md/)});
  expect((await plugins())[0].hash).toBe(hash);
  await run(['plugin', 'update', 'demo', '--yes']);
  expect((await plugins())[0].brings.commands).toEqual(['demo:bye', 'demo:hello']);

  const root = path.join(home.path, '.mini-cc/plugins/installed/demo@shop');
  const [folder = ''] = readdirSync(root);
  expect(statSync(path.join(root, folder, 'demo', 'hook.sh')).mode & 0o777).toBe(0o700);
  appendFileSync(path.join(root, folder, 'demo', 'hook.sh'), '\ntouch elsewhere\n');
  const server = await serve([say('hi')]);
  const changed = await run(['-p', 'hi'], {server});
  expect(changed.stderr).toMatch(/the files of the plugin demo@shop changed since you installed it: it is not used/);
  expect(ran(mark)).toEqual([]);
  expect((await run(['plugin', 'update', 'demo', '--yes'])).stdout).toMatch(/Updated demo@shop/);
});

it('takes --plugin-dir for one session; names what settings want, and a project’s word counts under trust', async () => {
  const {market, plugin, run, cwd} = await setUp();
  const server = await serve([say('one')]);
  const init = await run(['-p', 'hi', '--plugin-dir', plugin, '--output-format', 'stream-json', '--verbose'], {server});
  const {slash_commands: commands, agents} = JSON.parse(init.stdout.split('\n')[0]!);
  expect(commands).toContain('demo:hello');
  expect(agents).toContain('demo:looker');
  expect((await run(['-p', 'hi', '--plugin-dir', cwd], {server: await serve([say('x')])})).stderr).toMatch(
    /is no plugin/,
  );
  for (const words of [['install'], ['marketplace', 'add']]) {
    const missing = await run(['plugin', ...words, './nowhere', '--yes']);
    expect(missing).toMatchObject({code: 2, stderr: `mini-cc: there is no folder ${cwd}/nowhere\n`});
  }
  // What a message names is still there when it is read.
  expect((await run(['plugin', 'install', '.', '--yes'])).stderr).toMatch(new RegExp(`^mini-cc: ${cwd} is no plugin`));

  const source = {source: 'directory', path: market};
  const wanted = {enabledPlugins: {'demo@shop': true}, extraKnownMarketplaces: {shop: {source}}};
  write(path.join(cwd, '.mini-cc/settings.json'), wanted);
  expect((await run(['plugin', 'install', 'demo@shop', '--yes'])).stderr).toMatch(/there is no marketplace "shop"/);
  const trusted = await run(['-p', 'hi', '--trust'], {server: await serve([say('x')])});
  expect(trusted.stderr).toMatch(/the plugin demo@shop, which is not installed: mini-cc plugin install demo@shop/);
  expect((await run(['plugin', 'install', 'demo@shop', '--yes'])).code).toBe(0);
  write(path.join(cwd, '.mini-cc/settings.json'), {enabledPlugins: {'demo@shop': false}});
  const off = await serve([say('x')]);
  await run(['-p', 'hi', '--trust'], {server: off});
  expect(JSON.stringify(off.requests[0]!.body)).not.toMatch(/demo/);
});

it('shows in the REPL what a plugin brings, and installs it after the answer', async () => {
  const {plugin, run, plugins, cwd, home} = await setUp();
  const terminal = await repl({server: await serve([]), cwd, home});
  await idle(terminal);
  await send(terminal, `/plugin install ${plugin}`);
  await terminal.waitFor('Install the plugin demo?');
  await terminal.waitFor('runs code');
  await answer(terminal, 'Install the plugin demo?', '2');
  await terminal.waitFor('demo is not installed.');
  expect(await plugins()).toEqual([]);
  await run(['plugin', 'install', plugin, '--yes']);
  await send(terminal, '/plugin');
  await terminal.waitFor('1 agent, 1 command, 1 skill, 1 hook, 1 MCP server');
});
