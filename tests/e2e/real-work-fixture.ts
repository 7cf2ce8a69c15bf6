/** Reading commands by the main agent, in default mode and where no person can be asked, beside the same by plain bash. */
import path from 'node:path';
import {execa} from 'execa';
import {createUserEnvironment, type Home} from '../support/environment.ts';
import {say, startMessagesServer} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';

export interface Work {
  readonly command: string;
  readonly plain: string;
  /** What the agent got. */
  readonly confined: string;
  readonly refused: boolean;
}

/** @param programs folders in front of PATH. @returns for each command what it printed, both ways */
export async function doWork(
  root: string,
  commands: readonly string[],
  {home, programs = []}: {readonly home: Home; readonly programs?: readonly string[]},
): Promise<Work[]> {
  const env = {
    ...createUserEnvironment(),
    PATH: [...programs, process.env.PATH].join(':'),
    HOME: home.path,
    LANG: 'C.UTF-8',
  };
  // So that both find the index as new as the files.
  await execa('git', ['status'], {cwd: root, env, extendEnv: false});
  const results: {text: string; isError: boolean}[] = [];
  const server = await startMessagesServer((body) => {
    const index = countReplies(body);
    if (index > 0) results.push(getToolResults(body)[0]!);
    return index < commands.length ? callTool('bash', {command: commands[index]!}) : say('done');
  });
  try {
    const run = await runCli(['-p', 'go', '--max-turns', '400'], {server, home, cwd: root, env, timeoutMs: 240_000});
    if (run.code !== 0) throw new Error(`mini-cc ended with ${run.code}: ${run.stderr}`);
  } finally {
    await server.close();
  }
  const work: Work[] = [];
  for (const [index, command] of commands.entries()) {
    const {all = '', exitCode} = await execa('bash', ['-c', command], {
      cwd: root,
      // Plain git would write its index once more.
      env: {...env, GIT_OPTIONAL_LOCKS: '0'},
      extendEnv: false,
      all: true,
      reject: false,
      stdin: 'ignore',
    });
    const {text, isError} = results[index]!;
    const refused = isError && text.startsWith('Permission denied');
    const failure = exitCode === 0 ? [] : [`exit code ${exitCode}`];
    const plain = [...(all.trim() === '' ? ['(no output)'] : [all.trimEnd()]), ...failure].join('\n');
    work.push({command, plain: withoutParent(plain), confined: withoutParent(text.trimEnd()), refused});
  }
  return work;
}

/**
 * What differs in the sandbox: the folder above the workspace is an empty one of its own, so `ls -la` shows another size
 * and date for `..`, and another total.
 */
function withoutParent(listing: string): string {
  return listing.replace(/^total \d+$|^d\S+ .* \.\.$/gm, '');
}

/** The commands that the agent was not let run, or that printed something else than they do unconfined. */
export function findDifferences(work: readonly Work[]): string[] {
  return work.flatMap(({command, plain, confined, refused}) => {
    if (refused) return [`${command}: refused: ${confined}`];
    if (plain === confined) return [];
    const at = [...plain].findIndex((letter, index) => letter !== confined[index]);
    const near = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 200));
    return [`${command}: printed ${near(confined)} in place of ${near(plain)}`];
  });
}

/** Of any project with this file of many lines in it. */
export function commandsFor(file: string): string[] {
  const folder = path.dirname(file);
  return [
    ...[
      'git log --oneline',
      'git log -p -2 --stat',
      'git log --format="%h %an %s" --name-only',
      'git shortlog -sn HEAD',
      'git status',
      'git status --short --branch',
    ],
    ...[
      'git diff',
      'git diff HEAD~1',
      'git diff --stat HEAD~2 HEAD',
      'git show',
      'git show --stat HEAD~1',
      `git blame HEAD -- ${file}`,
      `git blame -L 1,5 HEAD -- ${file}`,
      `git show HEAD:${file}`,
    ],
    ...[
      'git branch -a',
      'git tag',
      'git remote -v',
      'git rev-parse HEAD',
      'git ls-files',
      'git ls-tree -r HEAD --name-only',
      'git describe --always',
      'git stash list',
    ],
    ...[
      'rg --sort path -n TODO',
      'rg --sort path -l return',
      `rg -n -C 2 "import|require|use " ${file}`,
      'rg --files --sort path',
      'rg -c --sort path the',
    ],
    ...[
      'find . -name "*.md" -not -path "./.git/*"',
      'find . -maxdepth 2 -type d',
      `find ${folder} -type f -size +1k`,
      'ls',
      'ls -la',
      `ls -la ${folder}`,
      'ls -R -1 . | head -50',
    ],
    ...[
      `wc ${file}`,
      `wc -l ${file}`,
      'git ls-files | wc -l',
      `head -20 ${file}`,
      `tail -n 5 ${file}`,
      `head -c 100 ${file}`,
      `cat ${file}`,
      `sed -n 1,10p ${file}`,
    ],
    ...[
      `cat ${file} | tr -cs "[:alpha:]" "\\n" | sort | uniq -c | sort -rn | head -10`,
      'git ls-files | sed "s/.*\\.//" | sort | uniq -c',
      `cut -c1-20 ${file} | sort -u`,
      `awk '{print NF}' ${file} | sort -n | tail -1`,
    ],
    ...[
      `grep -rn "return" ${folder} | sort | head`,
      `grep -c "" ${file}`,
      `stat -c "%s %n" ${file}`,
      `file ${file}`,
      'pwd',
      `diff ${file} ${file}`,
      'du -s --apparent-size .git/refs',
      `md5sum ${file}`,
      `cd ${folder} && ls`,
    ],
  ];
}
