/** Hooks as people have them for Claude Code: commands in settings, told of events, that change what follows. */
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type AnyLine, startDriven} from '../drivers/driven.ts';
import {home as createHome, explore, isSubagent, project, serve} from '../e2e/fixture.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, say, slow} from '../support/scripted-replies.ts';

/** A project, and hooks in the user's settings, which need no trust. */
async function withHooks(hooks: object, file = '.mini-cc/settings.json') {
  const home = await createHome();
  const {path: cwd} = await project();
  const settings = path.join(home.path, file);
  mkdirSync(path.dirname(settings), {recursive: true});
  writeFileSync(settings, JSON.stringify({hooks}));
  return {
    home,
    cwd,
    logged: () =>
      readFileSync(path.join(cwd, 'log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

const command = (text: string, more: object = {}) => [{hooks: [{type: 'command', command: text}], ...more}];
const LOG = 'cat >> log';

describe('hooks', () => {
  it('are told of all events of a session, in Claude Code’s names, from ~/.claude/settings.json too', async () => {
    const names = [
      'PreToolUse',
      'PostToolUse',
      'UserPromptSubmit',
      'SessionStart',
      'SessionEnd',
      'Stop',
      'SubagentStart',
      'SubagentStop',
    ];
    const hooks = Object.fromEntries(names.map((name) => [name, command(LOG)]));
    const {home, cwd, logged} = await withHooks(hooks, '.claude/settings.json');
    const server = await serve((body) => {
      if (isSubagent(body)) return say('found it in src/greet.ts:1');
      if (body.messages.length === 1) return callTool('read_file', {path: 'src/greet.ts'}, 'r1');
      return body.messages.length === 3 ? callTools([explore()]) : say('done');
    });
    const run = await runCli(['-p', 'hello'], {server, home, cwd});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(run.stderr).toMatch(
      /8 hooks of ~\/\.claude\/settings\.json run here too; "claude": \{"hooks": false\} turns them off/,
    );
    const events = logged();
    expect(events.map(({hook_event_name: name}) => name)).toEqual([
      ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'],
      ...['PreToolUse', 'SubagentStart', 'SubagentStop', 'PostToolUse', 'Stop', 'SessionEnd'],
    ]);
    const [start, prompt, pre, post] = events;
    expect(start).toMatchObject({source: 'startup', cwd, session_id: expect.any(String), permission_mode: 'default'});
    expect(existsSync(start.transcript_path)).toBe(true);
    expect(prompt).toMatchObject({prompt: 'hello'});
    expect(pre).toMatchObject({tool_name: 'Read', tool_input: {file_path: 'src/greet.ts'}, tool_use_id: 'r1'});
    expect(post.tool_response.content).toContain('greet');
    expect(events.find(({hook_event_name: name}) => name === 'SubagentStop')).toMatchObject({agent_type: 'explore'});
  });

  it('block, change and allow calls; a deny rule holds all the same', async () => {
    const {home, cwd} = await withHooks({
      PreToolUse: [
        ...command(`grep -q forbidden && { echo 'not this one' >&2; exit 2; }; exit 0`, {matcher: 'Bash'}),
        ...command(
          `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"file_path":"b.txt","content":"theirs"}}}'`,
          {matcher: 'Write|Edit'},
        ),
        ...command(`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, {matcher: 'B.*h'}),
      ],
    });
    const server = await serve([
      callTool('bash', {command: 'touch forbidden'}),
      callTool('bash', {command: 'touch made'}),
      callTool('bash', {command: 'touch denied'}),
      callTool('write_file', {path: 'a.txt', content: 'mine'}),
      say('done'),
    ]);
    const run = await runCli(['-p', 'go', '--disallowed-tools', 'bash(touch denied)'], {server, home, cwd});
    expect(run.code).toBe(0);
    const said = server.requests.map(({body}) => JSON.stringify(body.messages.at(-1)));
    expect(said[1]).toContain('not this one');
    expect(said[3]).toMatch(/denied/);
    expect(
      ['forbidden', 'made', 'denied', 'a.txt', 'b.txt'].filter((name) => existsSync(path.join(cwd, name))),
    ).toEqual(['made', 'b.txt']);
    expect(readFileSync(path.join(cwd, 'b.txt'), 'utf8')).toBe('theirs');
  });

  it('never lift what only a person may allow', async () => {
    const {home, cwd} = await withHooks({
      PreToolUse: command(`echo '{"decision":"approve"}'`),
      PermissionRequest: command(`echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'`),
    });
    const server = await serve([callTool('write_file', {path: '.git/hooks/pre-commit', content: 'x'}), say('no')]);
    await runCli(['-p', 'go'], {server, home, cwd});
    expect(existsSync(path.join(cwd, '.git/hooks/pre-commit'))).toBe(false);
  });

  it('answer a question in the place of the person, yes and no', async () => {
    const {home, cwd} = await withHooks({
      PermissionRequest: [
        ...command(
          `grep -q yes && echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}' || echo '{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"only yes"}}}'`,
        ),
      ],
    });
    const server = await serve([
      callTool('bash', {command: 'touch yes'}),
      callTool('bash', {command: 'touch other'}),
      say('ok'),
    ]);
    await runCli(['-p', 'go'], {server, home, cwd});
    expect(['yes', 'other'].filter((name) => existsSync(path.join(cwd, name)))).toEqual(['yes']);
    expect(JSON.stringify(server.requests[2]!.body.messages.at(-1))).toContain('only yes');
  });

  it('refuse a prompt, add to it, and let the agent go on after its answer', async () => {
    const {home, cwd} = await withHooks({
      SessionStart: command('echo the build is red'),
      UserPromptSubmit: command(`grep -q secret && { echo 'no secrets' >&2; exit 2; }; echo and it rains`),
      Stop: command(`grep -q '"stop_hook_active":false' && echo '{"decision":"block","reason":"run the tests"}'; true`),
    });
    const server = await serve([say('done'), say('tests pass')]);
    const refused = await runCli(['-p', 'my secret'], {server, home, cwd});
    expect(refused).toMatchObject({code: 1, stdout: ''});
    expect(refused.stderr).toContain('no secrets');
    expect(server.requests).toHaveLength(0);
    const run = await runCli(['-p', 'hello'], {server, home, cwd});
    expect(run).toMatchObject({code: 0, stdout: 'tests pass\n'});
    const first = JSON.stringify(server.requests[0]!.body.messages);
    expect(first).toContain('the build is red');
    expect(first).toContain('and it rains');
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('run the tests');
  });

  it('with continue: false end the run: before a call, after it, and of a subagent alone', async () => {
    const stop = (matcher: string) => command(`echo '{"continue":false,"stopReason":"enough of it"}'`, {matcher});
    const {home, cwd} = await withHooks({PreToolUse: stop('Write'), PostToolUse: stop('Glob')});
    const write = {name: 'write_file', input: {path: 'w.txt', content: 'x'}};
    const run = async (calls: Parameters<typeof callTools>[0]) => {
      const server = await serve([callTools(calls), say('never')]);
      const flags = ['-p', 'go', '--output-format', 'json', '--dangerously-skip-permissions'];
      const {code, stdout} = await runCli(flags, {server, home, cwd});
      return {code, result: JSON.parse(stdout), requests: server.requests.length};
    };
    const before = await run([write, {name: 'bash', input: {command: 'touch later'}}]);
    expect(before).toMatchObject({code: 1, requests: 1, result: {subtype: 'error_during_execution'}});
    expect(before.result.result).toContain('a hook ended the run: enough of it');
    expect(['w.txt', 'later'].filter((name) => existsSync(path.join(cwd, name)))).toEqual([]);
    const after = await run([{name: 'glob', input: {pattern: '*.json'}}]);
    expect(after).toMatchObject({code: 1, requests: 1});
    const server = await serve((body) => {
      if (isSubagent(body)) return callTool('glob', {pattern: '*.json'});
      return body.messages.length === 1 ? callTools([explore()]) : say('It was stopped.');
    });
    const outer = await runCli(['-p', 'go'], {server, home, cwd});
    expect(outer).toMatchObject({code: 0, stdout: 'It was stopped.\n'});
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('a hook ended the run: enough of it');
  });

  it('with continue: false let no prompt of the session pass, and end a run, a compaction or a turn that asks', async () => {
    const stop = command(`cat > /dev/null; echo '{"continue":false,"stopReason":"enough of it"}'`);
    const unused = await serve([]);
    const atStart = await withHooks({SessionStart: stop});
    const refused = await runCli(['-p', 'go'], {...atStart, server: unused});
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did not let the prompt pass: enough of it'),
    });
    expect(unused.requests).toHaveLength(0);

    const ofRuns = await withHooks({SubagentStart: stop});
    const server = await serve([callTools([explore()]), say('It did not run.')]);
    const outer = await runCli(['-p', 'go'], {...ofRuns, server});
    expect(outer).toMatchObject({code: 0, stdout: 'It did not run.\n'});
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('a hook ended the run: enough of it');

    const driven = await withHooks({PreCompact: stop, Notification: stop});
    const asked = await serve([say('one'), say('two'), callTool('bash', {command: 'touch made'}), say('goes on')]);
    const driver = await startDriven(['--permission-prompt-tool', 'stdio'], {...driven, server: asked});
    await driver.prompt('a '.repeat(4000));
    await driver.prompt('second');
    expect(await driver.prompt('/compact')).toMatchObject({
      is_error: true,
      result: expect.stringContaining('enough of it'),
    });
    const ended = await driver.prompt('make it');
    expect(ended).toMatchObject({subtype: 'error_during_execution', errors: ['a hook ended the run: enough of it']});
    expect(existsSync(path.join(driven.cwd, 'made'))).toBe(false);
    expect(await driver.prompt('and now?')).toMatchObject({result: 'goes on'});
  });

  it('with continue: false at a question end only what waits for its answer', async () => {
    const stop = (before: string) =>
      command(`cat > /dev/null; ${before} echo '{"continue":false,"stopReason":"enough of it"}'`);
    const isQuestion = (line: AnyLine) => line.type === 'control_request' && line.request.subtype === 'can_use_tool';
    const args = ['--permission-prompt-tool', 'stdio'];

    // A run in the background asks: the turn of the main agent goes on.
    const atOnce = await withHooks({Notification: stop('')});
    let release: () => void = () => undefined;
    const withdrawn = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serve(async (body) => {
      if (isSubagent(body)) return callTool('bash', {command: 'touch made'});
      if (body.messages.length === 1) {
        return callTools([
          {name: 'Task', input: {description: 'make it', prompt: 'go', agent_type: 'code', background: true}},
        ]);
      }
      await withdrawn;
      return say('I went on.');
    });
    const driver = await startDriven(args, {...atOnce, server});
    const result = driver.prompt('go');
    await driver.next((line) => line.type === 'control_cancel_request' || line.type === 'result');
    release();
    expect(await result).toMatchObject({subtype: 'success', result: 'I went on.'});
    expect(driver.lines.some(isQuestion)).toBe(true);

    // It was answered before the hook had ended.
    const late = await withHooks({Notification: stop('until [ -e made ]; do sleep 0.05; done;')});
    const answering = await serve([callTool('bash', {command: 'touch made'}), slow(say('made'), 300)]);
    const other = await startDriven(args, {...late, server: answering});
    const made = other.prompt('make it');
    const {request_id} = await other.next(isQuestion);
    const response = {subtype: 'success', request_id, response: {behavior: 'allow'}};
    other.send({type: 'control_response', response});
    expect(await made).toMatchObject({subtype: 'success', result: 'made'});
  });

  it('have their systemMessage, and what they say in vain, before the person', async () => {
    const tell = (text: string) => command(`cat > /dev/null; echo '{"systemMessage":"${text}"}'`);
    const vain = command('cat > /dev/null; echo not today >&2; exit 2');
    const {home, cwd} = await withHooks({Stop: tell('lint is red'), SessionStart: vain, SessionEnd: vain});
    const run = await runCli(['-p', 'go'], {home, cwd, server: await serve([say('done')])});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(run.stderr).toContain('mini-cc: lint is red');
    expect(run.stderr).toMatch(/the SessionStart hook cannot prevent this: not today/);
  });

  it('that fail, hang or print nonsense are named, and stop nothing', async () => {
    const {home, cwd} = await withHooks({
      PreToolUse: [
        ...command('exit 7'),
        ...command(`echo '{"decision": 7}'`),
        {hooks: [{type: 'command', command: 'sleep 30', timeout: 0.2}]},
      ],
    });
    const server = await serve([callTool('read_file', {path: 'src/greet.ts'}), say('done')]);
    const run = await runCli(['-p', 'go'], {server, home, cwd});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(run.stderr).toMatch(/PreToolUse hook exit 7 .*failed: exit code 7/);
    expect(run.stderr).toMatch(/its output cannot be read/);
    expect(run.stderr).toMatch(/sleep 30 .*took longer than 0\.2 s/);
  });

  it('of a project count under trust alone, and what is wrong in them is named', async () => {
    const {path: cwd} = await project();
    mkdirSync(path.join(cwd, '.mini-cc'));
    const hooks = {
      SessionStart: command('touch ran'),
      PreTolUse: command('x'),
      Stop: [{hooks: [{type: 'prompt', url: 'x'}]}],
      PreToolUse: [{hooks: [{type: 'command', command: 'exit 2', if: 'Bash(rm:*'}]}],
      PostToolUse: [{hooks: [{type: 'command', command: 'exit 2', if: 'Bahs(rm:*)'}]}],
    };
    writeFileSync(path.join(cwd, '.mini-cc/settings.json'), JSON.stringify({hooks}));
    const server = await serve([say('a'), say('b')]);
    const ignored = await runCli(['-p', 'go'], {server, cwd});
    expect(ignored.stderr).toMatch(/not trusted: .*hooks/);
    expect(existsSync(path.join(cwd, 'ran'))).toBe(false);
    const trusted = await runCli(['-p', 'go', '--trust'], {server, cwd});
    expect(existsSync(path.join(cwd, 'ran'))).toBe(true);
    expect(trusted.stderr).toMatch(/no such event \(did you mean PreToolUse\?\)/);
    expect(trusted.stderr).toMatch(/only hooks of the types command and http/);
    expect(trusted.stderr).toMatch(
      /PreToolUse hook exit 2 .* never called: its if: "Bash\(rm:\*" has no closing bracket/,
    );
    expect(trusted.stderr).toMatch(/PostToolUse hook .* there is no tool "Bahs" \(did you mean bash\?\)/);
  });
});
