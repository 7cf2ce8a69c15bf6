/** A marketplace on disk with one plugin that brings a bit of everything, and a home that it is installed in. */
import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {home as createHome, project} from '../../e2e/fixture.ts';
import {type CliOptions, runCli} from '../../support/run-cli.ts';
import {PLAYED, workFolder} from '../mcp/fixture.ts';

export const write = (file: string, content: string | object) => {
  mkdirSync(path.dirname(file), {recursive: true});
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
};

/** @param mark what each part of the plugin makes when it runs: `MARK-hook`, `MARK-server`, `MARK-command` */
export function writePlugin(folder: string, mark: string): void {
  const at = (name: string) => path.join(folder, name);
  write(at('.claude-plugin/plugin.json'), {name: 'demo', version: '1.0.0', description: 'Shows what plugins are'});
  write(
    at('commands/hello.md'),
    `---\ndescription: greets\nallowed-tools: Bash(touch:*)\n---\nSay hello to $ARGUMENTS from \${CLAUDE_PLUGIN_ROOT}. !\`touch ${mark}-command\``,
  );
  write(at('skills/knots/SKILL.md'), '---\nname: knots\ndescription: ties knots\n---\nTie a bowline.');
  write(at('agents/looker.md'), '---\nname: looker\ndescription: looks\ntools: Read, Grep\n---\nYou look.');
  const command = '"${CLAUDE_PLUGIN_ROOT}/hook.sh"';
  write(at('hooks/hooks.json'), {hooks: {UserPromptSubmit: [{hooks: [{type: 'command', command}]}]}});
  write(at('hook.sh'), `#!/bin/sh\ntouch ${mark}-hook\necho "the hook of $CLAUDE_PLUGIN_ROOT"\n`);
  chmodSync(at('hook.sh'), 0o755);
  const args = ['${CLAUDE_PLUGIN_ROOT}/server.mjs'];
  write(at('.mcp.json'), {mcpServers: {notes: {command: process.execPath, args, env: {LOG: `${mark}-server`}}}});
  write(at('server.mjs'), `await import(${JSON.stringify(PLAYED)});`);
}

export async function setUp() {
  const top = workFolder();
  const [{path: cwd}, home] = [await project(), await createHome()];
  const [market, mark] = [path.join(top, 'market'), path.join(top, 'ran')];
  const plugin = path.join(market, 'plugins/demo');
  writePlugin(plugin, mark);
  const entry = {name: 'demo', source: './plugins/demo'};
  write(path.join(market, '.claude-plugin/marketplace.json'), {name: 'shop', owner: {name: 'x'}, plugins: [entry]});
  const run = (args: readonly string[], options: Partial<CliOptions> & {input?: string} = {}) =>
    runCli(args, {cwd, home, ...options});
  const plugins = async () => JSON.parse((await run(['plugin', 'list', '--json'])).stdout);
  return {top, cwd, home, market, plugin, mark, run, plugins};
}

/** @returns the address of a bare repository with the folder's files */
export function toRepository(folder: string, top: string): string {
  const bare = path.join(top, 'shop.git');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {cwd: folder, stdio: 'ignore'});
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'x');
  git('clone', '-q', '--bare', folder, bare);
  return bare;
}
