import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseArguments} from '../../src/cli/arguments.ts';
import {FLAGS, helpText, written} from '../../src/cli/flags.ts';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';

const parse = (...args: string[]) => parseArguments(args, {}, undefined, ALL_TOOLS);

describe('the command line', () => {
  it('does not take a command of a like program, or a misspelt one, for a prompt', () => {
    expect(() => parse('update')).toThrow('no such command: update; to send it as a prompt: mini-cc -- update');
    expect(() => parse('login', 'now')).toThrow('to send it as a prompt: mini-cc -- login now');
    expect(() => parse('agnets', 'list')).toThrow('no such command: agnets (did you mean agents?)');
    expect(() => parse('doctr')).toThrow('did you mean doctor?');
    expect(() => parse('mpc', 'list')).toThrow('did you mean mcp?');
  });

  it.each([
    [['install', 'the', 'packages']],
    [['update the readme']],
    [['-p', 'update']],
    [['--', 'update']],
    [['--', 'agents']],
    [['docker', 'compose']],
    [['explain']],
    [['hello', 'agents']],
  ])('takes %j for a prompt', (args) => {
    expect(parse(...args)).toMatchObject({prompt: args.filter((arg) => !arg.startsWith('-')).join(' ')});
    expect(parse(...args).subcommand).toBeUndefined();
  });

  it('keeps words that look like flags, and words behind a switch, as the prompt', () => {
    expect(parse('-p', '-5 apples').prompt).toBe('-5 apples');
    expect(parse('-p', 'true')).toMatchObject({print: true, prompt: 'true'});
    expect(parse('-p', '--', '--help me')).toMatchObject({prompt: '--help me'});
    expect(parse('-p', 'two', 'words', '--model', 'opus')).toMatchObject({
      prompt: 'two words',
      session: {model: 'opus'},
    });
  });

  it('takes the levels of --effort that Claude Code has', () => {
    const levels = ['off', 'low', 'high', 'xhigh', 'max'].map((level) => parse('-p', 'x', '--effort', level));
    expect(levels.map(({session}) => session.thinking)).toEqual(['off', 'low', 'high', 'high', 'high']);
  });

  it('takes values that begin with a dash, by space or by =', () => {
    expect(parse('-p', 'x', '--append-system-prompt', '- be brief').session.appendSystemPrompt).toBe('- be brief');
    expect(parse('-p', 'x', '--append-system-prompt=--odd').session.appendSystemPrompt).toBe('--odd');
    expect(parse('-p', 'x', '--append-system-prompt=a=b\nc').session.appendSystemPrompt).toBe('a=b\nc');
  });

  it('keeps quotes, and values that are empty', () => {
    expect(parse('-p', '"be brief"', "'x'").prompt).toBe(`"be brief" 'x'`);
    expect(parse('-p', 'x', '--append-system-prompt="a" and "b"').session.appendSystemPrompt).toBe('"a" and "b"');
    expect(parse('-p', 'x', '--append-system-prompt', '').session.appendSystemPrompt).toBe('');
    expect(parse('-p', 'x', '--append-system-prompt=').session.appendSystemPrompt).toBe('');
    expect(parse('-p', 'x', '--append-system-prompt', 'true').session.appendSystemPrompt).toBe('true');
  });

  it('takes switches with =true and =false', () => {
    expect(parse('--print=true', '--verbose=false', 'x')).toMatchObject({print: true, verbose: false});
  });

  it('begins relative directories at the working directory', () => {
    const at = (...args: string[]) => parseArguments(args, {}, () => import.meta.dirname).session;
    expect(at().cwd).toBe(import.meta.dirname);
    expect(at('--cwd', '..', '--add-dir', 'cli')).toMatchObject({
      cwd: path.dirname(import.meta.dirname),
      addDirs: [import.meta.dirname],
    });
    const gone = () => {
      throw new Error('not asked for');
    };
    expect(parseArguments(['--cwd', import.meta.dirname], {}, gone).session.cwd).toBe(import.meta.dirname);
  });

  it('lets the last of a repeated flag win, and adds up lists', () => {
    expect(parse('-p', 'x', '--model', 'a', '--model=b').session.model).toBe('b');
    expect(parse('-p', 'x', '--allowed-tools', 'bash,Read', '--allowedTools', 'grep').session.allowedTools).toEqual([
      'bash',
      'Read',
      'grep',
    ]);
    const rules = 'bash(npm run a, b), Edit(src/**) bash(echo (a) b)';
    expect(parse('-p', 'x', '--disallowed-tools', rules).session.disallowedTools).toEqual([
      'bash(npm run a, b)',
      'Edit(src/**)',
      'bash(echo (a) b)',
    ]);
  });

  it('takes several rules behind one flag, as Claude Code does, and leaves the prompt', () => {
    const both = parse('-p', '--allowedTools', 'Bash(git log:*)', 'Bash(npm run test:*)', 'Read', 'read this', 'bash');
    expect(both.session.allowedTools).toEqual(['Bash(git log:*)', 'Bash(npm run test:*)', 'Read']);
    expect(both.prompt).toBe('read this bash');
    expect(parse('--disallowed-tools', 'bash', 'Task(code): mend it (all)').prompt).toBe('Task(code): mend it (all)');
  });

  it('knows sessions by --continue, --resume ID and --session-id', () => {
    expect(parse('-c').session.which).toEqual({type: 'continue'});
    expect(parse('-r', 'abc').session.which).toEqual({type: 'resume', id: 'abc'});
    expect(parse('--session-id', '3F2B8C1E-9d4a-4c6b-8e5f-0a1b2c3d4e5f').session.which).toMatchObject({
      type: 'new',
      id: '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f',
    });
  });

  it.each([
    [['--cwd.x=1'], /Unknown flag --cwd\.x/],
    [['-x'], /Unknown flag -x/],
    [['--model'], /--model needs a value/],
    [['--print=maybe'], /takes no value/],
    [
      ['-p', 'x', '--json'],
      /--json goes with mini-cc agents, mini-cc skills, mini-cc sessions, mini-cc doctor, mini-cc config, mini-cc mcp, mini-cc plugin, mini-cc runs, mini-cc workers, and mini-cc review/,
    ],
    [['-p', 'x', '--template', 't'], /--template goes with mini-cc agents/],
    [['agents', 'list', '--output-format', 'json'], /--output-format does not go with mini-cc agents/],
    [['-c', '--resume', 'a'], /--continue and --resume name different sessions/],
    [['--resume', 'a', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], /name different sessions/],
    [['-p', 'x', '--include-partial-messages'], /goes with --output-format stream-json/],
    [['-p', 'x', '--output-format', 'yaml'], /Unknown value for flag `--output-format`: `yaml`\. Value must be one of/],
    [['-p', 'x', '--permission-mode', 'ask', '-y'], /Unknown value for flag `--permission-mode`: `ask`/],
    [['-p', 'x', '--max-turns', 'many'], /--max-turns takes a whole number from 1 on/],
    [['-p', 'x', '--timeout', '0'], /--timeout takes a whole number from 1 on/],
    [['-p', 'x', '--max-turns=-2.5'], /--max-turns takes a whole number from 1 on/],
    [['-p', 'x', '--model', '--', 'y'], /--model needs a value/],
    [['--toString'], /Unknown flag --to-string/],
    [['--no-model'], /Unknown flag --no-model/],
    [['doctor', '--yes'], /--yes does not go with mini-cc doctor/],
    [['-r', ''], /--resume needs the id of a session/],
  ])('%j is bad usage', (args, words) => {
    expect(() => parse(...args)).toThrow(words);
  });

  it('has one table, from which the help text lists every flag', () => {
    const flags = helpText()
      .match(/^ {2}(?:-\w, )?--[\w-]+/gm)
      ?.map((line) => line.replace(/^.*--/, '--'));
    expect(flags).toEqual(Object.keys(FLAGS).map(written));
    // meow indents them by two.
    for (const line of helpText().split('\n')) expect(line.length).toBeLessThanOrEqual(98);
  });
});
