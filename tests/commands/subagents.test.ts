import {describe, expect, it} from 'vitest';
import {formatRunTimeline} from '../../src/commands/shared/run-timeline.ts';
import {backgroundCommand, subagentsCommand, tasksCommand} from '../../src/commands/subagents.ts';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import type {RunRecord} from '../../src/core/contract/runs.ts';
import type {Command, CommandContext} from '../../src/core/contract/session-requests.ts';
import {Inbox} from '../../src/core/turn/inbox.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {managerFixture} from '../core/manager-fixture.ts';
import {runFixture, tool} from '../core/run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../core/scripted-model.ts';
import {sessionOver} from '../core/session/fixture.ts';
import {until} from '../support/wait.ts';

function commands(options: Parameters<typeof managerFixture>[0] = {}) {
  const made = managerFixture(options);
  const model = new ScriptedModel([]);
  const {session} = sessionOver({...made, inbox: new Inbox()}, model, runFixture(model));
  const run = async (args: string, command: Command = subagentsCommand) => {
    // As the session does it: what is thrown is the answer.
    try {
      const context = {args, info: session.info, request: (each) => session.request(each)} as CommandContext;
      return await command.run(context);
    } catch (error) {
      return {ok: false, text: (error as Error).message};
    }
  };
  return {...made, run};
}

describe('/subagents', () => {
  it('lists the runs, numbered, newest first: state, agent, label, tools, tokens, cost, idle time, last tool', async () => {
    const {run, spawn, manager} = commands({tools: [tool('look')]});
    expect(await run('')).toEqual({ok: true, text: 'No subagents in this session.'});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    await spawn(new ScriptedModel([calls(call('look', {})), say('here')]), {agent, label: 'first one'});
    await spawn(new ScriptedModel([]), {description: 'second\none'});
    const hanging = spawn(new ScriptedModel([{hang: true}]), {agent: AGENT_TYPES.code!});
    await until(() => manager.find('1').state === 'processing');
    const {text} = await run('list');
    expect(text.split('\n')).toEqual([
      '1  running  code     look around',
      expect.stringMatching(/^ {3}0 tools · 0 tokens · cost \$0\.00 · idle 0\.\ds$/),
      '2  failed   explore  second one',
      expect.stringMatching(/^ {3}0 tools · 0 tokens · cost \$0\.00 · 0\.\ds ago$/),
      '3  done     explore  first one',
      expect.stringMatching(/^ {3}1 tool · 30 tokens · cost n\/a · 0\.\ds ago · look$/),
    ]);
    expect((await run('list', tasksCommand)).text.split('\n')).toHaveLength(6);
    await manager.stopAll();
    await hanging;
  });

  it('lists each run in one row where that fits in 80 columns, else in two that fit in 60', async () => {
    const {run, spawn} = commands();
    await spawn(new ScriptedModel([]), {description: 'a task with a name that is much too long for a row'});
    const [row, ...more] = (await run('')).text.split('\n');
    expect(more).toEqual([]);
    expect(row).toMatch(
      /^1 {2}failed {2}explore {2}a task with.*… {2}0 tools {2}0 tokens {2}cost \$0\.00 {2}0\.\ds ago {2}-$/,
    );
    expect(row!.length).toBeLessThan(80);
    await spawn(new ScriptedModel([]), {agent: {...AGENT_TYPES.explore!, name: 'documentation-reader'}});
    const rows = (await run('')).text.split('\n');
    expect(rows).toHaveLength(4);
    expect(rows[3]).toMatch(/^ {3}0 tools · /);
    expect(Math.max(...rows.map(({length}) => length))).toBeLessThan(64);
  });

  it('names what is wrong with a name', async () => {
    const {run, spawn, manager} = commands();
    const ids: string[] = [];
    // Until two begin alike: at the latest with the seventeenth.
    while (new Set(ids.map((id) => id[0])).size === ids.length)
      ids.push((await spawn(new ScriptedModel([say('x')]))).runId);
    const shared = ids.at(-1)![0]!;
    for (const form of ['stop', 'log', 'info', 'send']) {
      const more = form === 'send' ? ' hello' : '';
      expect(await run(`${form} 99${more}`)).toEqual({ok: false, text: 'Invalid subagent index: 99'});
      expect(await run(`${form} #0${more}`)).toEqual({ok: false, text: 'Invalid subagent index: 0'});
      expect(await run(`${form} x${more}`)).toEqual({ok: false, text: 'Unknown subagent id: x'});
    }
    // A prefix of one digit is a number of the list.
    if (/[a-f]/.test(shared)) {
      expect(await run(`info ${shared}`)).toEqual({ok: false, text: `Ambiguous run id prefix: ${shared}`});
    }
    expect(() => manager.find(ids[0]!.slice(0, 8))).not.toThrow();
    expect(await run('info')).toMatchObject({ok: false, text: expect.stringContaining('Which one?')});
    expect(await run('fly')).toMatchObject({ok: false, text: expect.stringContaining('/subagents stop <id|#|all>')});
  });

  it('log shows 20 by default, at most 200, tools hidden unless asked', async () => {
    const turns = 120;
    const model = new ScriptedModel((_, index) =>
      index < turns
        ? calls({type: 'text', text: `step ${index}`, citations: null}, call('look', {value: `at ${index}`}))
        : say('done'),
    );
    const look = tool('look', (_, value) => textResult(`saw ${value}`));
    const {run, spawn} = commands({tools: [look]});
    await spawn(model, {agent: {...AGENT_TYPES.explore!, tools: ['look']}, limits: {maxTurns: 400}});
    const blocks = async (args: string) => (await run(`log ${args}`)).text.split('\n\n');
    const short = await blocks('1');
    expect(short).toHaveLength(21);
    expect(short[0]).toBe('… 102 earlier messages');
    expect(short.at(-1)).toMatch(/^\d\d:\d\d:\d\d assistant: done$/);
    expect(short.join()).not.toContain('saw');
    expect(await blocks('1 3')).toHaveLength(4);
    const withTools = await blocks('#1 5000 tools');
    expect(withTools).toHaveLength(201);
    expect(withTools.join('\n')).toContain('* look {"value":"at 100"}');
    expect(withTools.join('\n')).toContain('  result: saw at 100');
    expect(await run('log 1 many')).toMatchObject({ok: false, text: expect.stringContaining('from 1 to 200')});
  });

  it('info tells all that is known, also of one that was archived', async () => {
    const {run, spawn, dispatch, manager, inbox} = commands({options: {archiveAfterMinutes: 60}});
    const {runId, transcript} = await spawn(new ScriptedModel([say('x')]), {label: 'mine'});
    const {text} = await run(`info ${runId.slice(0, 9)}`);
    expect(text.split('\n').map((line) => line.split(':')[0])).toEqual(
      'status label task run session transcript model cost where runtime created started ended cleanup archive outcome receipt'.split(
        ' ',
      ),
    );
    expect(text).toContain(`session-1 (agent:explore:subagent:${runId})`);
    expect(text).toMatch(/^archive: {4}\d{4}-.*Z$/m);
    expect((await run(`info ${transcript}`)).text).toBe(text);
    const dispatched = await dispatch(new ScriptedModel([say('gone')]), {background: true, cleanup: 'delete'});
    if (dispatched.source === 'cached') throw new Error('cached');
    const archived = await dispatched.started.ended;
    manager.announced(inbox.deliver()[0]!.id);
    const info = await run(`info ${archived.transcript}`);
    expect(info.text).toMatch(/^status: {5}archived \(done\)\n/);
    expect(info.text).toMatch(/^archive: {4}archived$/m);
    expect((await run(`log agent:explore:subagent:${archived.runId}`)).text).toContain('assistant: gone');
    await manager.close();
  });

  it('stop ends one, or all, also when its tool ignores it', async () => {
    const deaf = tool('look', () => new Promise(() => undefined));
    const {run, spawn, manager} = commands({tools: [deaf]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const runs = [1, 2, 3].map(() => spawn(new ScriptedModel([calls(call('look', {})), say('never')]), {agent}));
    await until(() => manager.list().every(({lastTool}) => lastTool === 'look'));
    expect((await run('stop 2')).text).toMatch(/^Stopped \[explore\] look around\. What it found is kept: /);
    expect((await run('stop 2')).text).toBe('[explore] look around has ended already: stopped.');
    expect((await run('stop all')).text).toBe('Stopped 2 subagents.');
    expect((await run('stop all')).text).toBe('No subagent is running.');
    expect((await Promise.all(runs)).map(({result}) => result.outcome)).toEqual(['stopped', 'stopped', 'stopped']);
  });

  it('timeline draws the runs of the last prompt in rows that fit', async () => {
    const {run, spawn} = commands();
    expect((await run('timeline')).text).toBe('No subagents in this session.');
    await spawn(new ScriptedModel([say('x')]), {description: 'a task with a name that is much too long for a row'});
    await spawn(new ScriptedModel([]), {description: 'fails\u001b[31m'});
    const [head, first, second, legend, ...rest] = (await run('timeline')).text.split('\n');
    expect(rest).toEqual([]);
    expect(head).toMatch(/^2 subagents · .* · est /);
    expect(first).toMatch(/^explore a task with.*… {2}[░█ ]+█[░█ ]* {2}\S+ n\/a$/);
    expect(second).toMatch(/^explore fails\S+ +[░█ ]+ {2}\S+ \$0\.00 failed$/);
    expect(legend).toBe('░ waited  █ worked  ▒ waited for a limit');
  });

  it('timeline shows who waited for a limit, in 56 columns as in 116', () => {
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    const record = {runId: 'a', agent: 'explore', description: 'look', createdAt: 0, startedAt: 0, endedAt: 100_000};
    const ended = {...record, outcome: 'success', usage: NO_USAGE} as RunRecord;
    const entries = [
      {type: 'began', at: at(20)},
      {type: 'paused', at: at(40), provider: 'anthropic', until: 80_000},
      {type: 'resumed', at: at(80), round: 1},
    ] as const;
    for (const [columns, most] of [
      [56, 56],
      [116, 116],
      [500, 116],
    ] as const) {
      const rows = formatRunTimeline([ended], () => entries, columns, 0).split('\n');
      expect(Math.max(...rows.map(({length}) => length))).toBe(Math.max(most, 0));
      const [bar = ''] = /[░█▒]+/.exec(rows[1]!) ?? [];
      const share = (block: string) => Math.round(((bar.split(block).length - 1) / bar.length) * 10);
      expect([share('░'), share('█'), share('▒')]).toEqual([2, 4, 4]);
      expect(bar).toMatch(/^░+█+▒+█+$/);
    }
  });

  it('send reaches a run at work and one that has ended', async () => {
    const {run, spawn, manager} = commands();
    await spawn(new ScriptedModel([say('x')]));
    expect((await run('send 1')).text).toContain('The message is missing');
    expect((await run('send 1 and\nmore')).text).toBe('[explore] look around goes on in the background.');
    await manager.waitAll();
    expect((await run('log 1')).text).toContain('user: and\nmore');
  });
});

describe('/background', () => {
  it('sends the foreground runs at work to the background', async () => {
    const {run, spawn, manager} = commands();
    expect((await run('', backgroundCommand)).text).toBe('No agent and no command is running in the foreground.');
    const hanging = spawn(new ScriptedModel([{hang: true}]));
    expect((await run('', backgroundCommand)).text).toMatch(/^In the background now: \[explore\] look around\./);
    expect(manager.find('1')).toMatchObject({background: true, state: 'processing'});
    await manager.stopAll();
    await hanging;
  });
});
