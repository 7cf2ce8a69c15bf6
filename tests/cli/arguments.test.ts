import {describe, expect, it} from 'vitest';
import {parseArguments} from '../../src/cli/arguments.ts';

const parse = (...args: string[]) => parseArguments(args, {});

describe('the command line', () => {
  it('keeps words that look like flags, and words behind a switch, as the prompt', () => {
    expect(parse('-p', '-5 apples').prompt).toBe('-5 apples');
    expect(parse('-p', 'true')).toMatchObject({print: true, prompt: 'true'});
    expect(parse('-p', '--', '--help me')).toMatchObject({prompt: '--help me'});
    expect(parse('-p', 'two', 'words', '--model', 'opus')).toMatchObject({
      prompt: 'two words',
      session: {model: 'opus'},
    });
  });

  it('takes values that begin with a dash, by space or by =', () => {
    expect(parse('-p', 'x', '--append-system-prompt', '- be brief').session.appendSystemPrompt).toBe('- be brief');
    expect(parse('-p', 'x', '--append-system-prompt=--odd').session.appendSystemPrompt).toBe('--odd');
    expect(parse('-p', 'x', '--append-system-prompt=a=b\nc').session.appendSystemPrompt).toBe('a=b\nc');
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
    [['-p', 'x', '--json'], /--json goes with mini-cc agents, mini-cc sessions and mini-cc doctor/],
    [['-p', 'x', '--template', 't'], /--template goes with mini-cc agents/],
    [['agents', 'list', '--output-format', 'json'], /--output-format does not go with mini-cc agents/],
    [['-c', '--resume', 'a'], /--continue and --resume name different sessions/],
    [['--resume', 'a', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], /name different sessions/],
    [['-p', 'x', '--include-partial-messages'], /goes with --output-format stream-json/],
    [['--resume'], /--resume needs the id of a session/],
  ])('%j is bad usage', (args, words) => {
    expect(() => parse(...args)).toThrow(words);
  });
});
