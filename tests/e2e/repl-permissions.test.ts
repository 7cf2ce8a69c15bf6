/** Answers to questions of permission: "always" is saved as a rule for this project only. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

const usable = await hasSandbox();

it('3 saves the rule that it shows; it holds in later sessions of this project, not in other projects', async () => {
  const [user, here, elsewhere] = [await home(), await project(), await project()];
  const touch = () => serve([callTool('bash', {command: 'touch made'}), say('That was it.')]);
  const terminal = await repl({server: await touch(), home: user, cwd: here.path, cols: 100});
  await send(terminal, 'make it');
  await terminal.waitFor('3 yes, always in this project: bash(touch made)');
  if (usable) await terminal.waitFor('/sandbox auto runs commands confined to the workspace without asking');
  await answer(terminal, '4 no, and say why', '3');
  await terminal.waitFor('That was it.');
  expect(existsSync(path.join(here.path, 'made'))).toBe(true);
  terminal.press('ctrl-d');
  await terminal.waitForExit();

  const projects = path.join(user.path, '.mini-cc/projects');
  const [slug] = readdirSync(projects);
  const saved = JSON.parse(readFileSync(path.join(projects, slug!, 'permissions.json'), 'utf8'));
  expect(saved).toEqual({version: 1, projects: {[here.path]: {allow: ['bash(touch made)']}}});

  const denials = async (cwd: string, command: string) => {
    const server = await serve([callTool('bash', {command}), say('done')]);
    const run = await runCli(['-p', 'x', '--output-format', 'json'], {server, home: user, cwd});
    return JSON.parse(run.stdout).permission_denials;
  };
  expect(await denials(here.path, 'touch made')).toEqual([]);
  expect(await denials(here.path, 'touch made other')).toHaveLength(1);
  expect(await denials(elsewhere.path, 'touch made')).toHaveLength(1);
});

it('4 refuses with a reason for the model, and 2 answers the same question for the rest of the session', async () => {
  const here = await project();
  const server = await serve([
    callTool('bash', {command: 'touch a'}),
    callTool('bash', {command: 'touch b'}),
    callTool('bash', {command: 'touch b'}),
    say('That was it.'),
  ]);
  const terminal = await repl({server, cwd: here.path});
  await send(terminal, 'make it');
  await answer(terminal, '4 no, and say why', '4');
  await terminal.waitFor('Enter sends it.');
  terminal.type('use b');
  terminal.press('enter');
  await answer(terminal, '  touch b', '2');
  await terminal.waitFor('That was it.');
  expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('The user says: use b');
  expect(existsSync(path.join(here.path, 'a'))).toBe(false);
  expect(existsSync(path.join(here.path, 'b'))).toBe(true);
});

it('/permissions saves a rule of each kind and removes it; it holds at once and in later sessions', async () => {
  const [user, here] = [await home(), await project()];
  const server = await serve([
    ...[callTool('bash', {command: 'touch a'}), callTool('bash', {command: 'touch b'}), say('Two calls.')],
    ...[callTool('bash', {command: 'touch c'}), say('One call.')],
  ]);
  const terminal = await repl({server, home: user, cwd: here.path, cols: 100});
  await send(terminal, '/permissions allow bash(touch:*)');
  await terminal.waitFor('Saved for this project: allow bash(touch:*)');
  await send(terminal, '/permissions deny bash(touch b)');
  await terminal.waitFor('Saved for this project: deny bash(touch b)');
  await send(terminal, 'make them');
  await terminal.waitFor('Two calls.');
  expect(readdirSync(here.path)).toEqual(expect.arrayContaining(['a']));
  expect(existsSync(path.join(here.path, 'b'))).toBe(false);

  await send(terminal, '/permissions deny bsh(ls)');
  await terminal.waitFor('/permissions: there is no tool "bsh" (did you mean bash?)');
  await send(terminal, '/permissions remove bash(ls)');
  await terminal.waitFor('there is no rule bash(ls)');
  await send(terminal, '/permissions bash(ls)');
  await terminal.waitFor('Write /permissions allow|ask|deny|remove RULE');

  await send(terminal, '/permissions remove bash(touch:*)');
  await terminal.waitFor('Removed: bash(touch:*)');
  await send(terminal, 'and this');
  await answer(terminal, '  touch c', '1');
  await terminal.waitFor('One call.');
  terminal.press('ctrl-d');
  await terminal.waitForExit();

  const later = await runCli(['-p', '/permissions', '--disallowed-tools', 'bash(rm)'], {
    server,
    home: user,
    cwd: here.path,
  });
  expect(later.stdout).toMatch(/deny {3}bash\(touch b\) .*permissions\.json/);
  expect(later.stdout).not.toContain('touch:*');
  const given = ['-p', '/permissions remove bash(rm)', '--disallowed-tools', 'bash(rm)'];
  const refused = await runCli(given, {server, home: user, cwd: here.path});
  expect(refused.stdout + refused.stderr).toContain('bash(rm) comes from --disallowed-tools: remove it there');
});
