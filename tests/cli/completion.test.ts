import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseArguments} from '../../src/cli/arguments.ts';
import {completionCommandLine} from '../../src/cli/completion.ts';
import {EXAMPLES, FLAGS, SUBCOMMANDS, written} from '../../src/cli/flags.ts';

const create = (verb: string) => completionCommandLine({verb, words: []}).stdout;
const root = path.resolve(import.meta.dirname, '../..');

/** What bash itself offers for each line, as it is typed. One bash answers for all of them. */
function completeInBash(lines: readonly (readonly string[])[]): string[][] {
  const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  const asked = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}; _mini_cc; echo "\${COMPREPLY[*]}"`,
  );
  const script = [create('bash'), ...asked].join('\n');
  const out = execFileSync('bash', ['--norc', '-c', script], {cwd: root, encoding: 'utf8'});
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter(Boolean));
}

describe('completion scripts', () => {
  it('complete in bash: subcommands, what follows them, their flags, choices, files and folders', () => {
    const cases: [string[], string[] | ((offered: string[]) => boolean)][] = [
      [['mini-cc', ''], [...SUBCOMMANDS]],
      [['mini-cc', 'se'], ['sessions']],
      [
        ['mini-cc', 'sessions', ''],
        ['list', 'show', 'export', 'delete'],
      ],
      [['mini-cc', 'completion', 'z'], ['zsh']],
      [['mini-cc', '--output-fo'], ['--output-format']],
      [
        ['mini-cc', '--output-format', ''],
        ['text', 'json', 'stream-json'],
      ],
      [['mini-cc', '-p', 'x', '--effort', '=', 'h'], ['high']],
      [
        ['mini-cc', '-p', 'x', '--effort', '='],
        ['off', 'low', 'medium', 'high', 'xhigh', 'max'],
      ],
      [['mini-cc', '--cwd', 'sr'], ['src']],
      [['mini-cc', '--settings', 'package.j'], ['package.json']],
      [['mini-cc', '--model', ''], []],
      [['mini-cc', 'agents', '--te'], ['--template']],
      [['mini-cc', '--te'], []],
      [['mini-cc', 'acp', '--output'], []],
      [['mini-cc', '-'], (offered) => offered.includes('-p') && offered.includes('--print')],
    ];
    const offered = completeInBash(cases.map(([words]) => words));
    expect(offered).toHaveLength(cases.length);
    for (const [index, [words, expected]] of cases.entries()) {
      const found = offered[index]!;
      if (typeof expected === 'function') expect(expected(found), words.join(' ')).toBe(true);
      else expect(found, words.join(' ')).toEqual(expected);
    }
  });

  it.each(['bash', 'zsh', 'fish'])('name every flag and subcommand in %s', (shell) => {
    const script = create(shell);
    const flags = Object.keys(FLAGS).map((name) => (shell === 'fish' ? `-l ${written(name).slice(2)}` : written(name)));
    expect([...flags, ...SUBCOMMANDS].filter((name) => !script.includes(name))).toEqual([]);
  });

  it('say what is wrong with a call', () => {
    expect(() => completionCommandLine({verb: '', words: []})).toThrow('mini-cc completion bash|zsh|fish');
    expect(() => create('zhs')).toThrow('did you mean zsh?');
    expect(() => completionCommandLine({verb: 'zsh', words: ['x']})).toThrow('x is too much');
  });
});

describe('the examples of --help', () => {
  it.each(EXAMPLES)('%s can be typed', (line) => {
    const call = /mini-cc (.*?)\)?$/.exec(line)![1]!;
    const words = execFileSync('bash', ['-c', `printf '%s\\0' ${call}`], {encoding: 'utf8'})
      .split('\0')
      .slice(0, -1);
    expect(() => parseArguments(words, {})).not.toThrow();
  });
});
