/** What people run and type, from which a seed draws. No program can be tuned to a command that it does not know before. */
/** @returns a number from 0 to below `below` */
type Random = (below: number) => number;

/** Commands that only read. mini-cc runs them without a question, in its read-only sandbox. */
const READING = [
  'ls -la src',
  'git status --short',
  'git diff HEAD~1',
  'git diff --stat HEAD~1',
  'git log --oneline -5',
  'git show --stat HEAD',
  'git branch -a',
  'git blame -L 1,10 README.md',
  'git ls-files | wc -l',
  'git rev-parse --abbrev-ref HEAD && git status --short',
  'rg -n value12 src | head',
  'rg -l "export const" src | wc -l',
  'grep -rn value19 src/part1 | head -5',
  'sed -n 1,40p src/part0/file1.ts',
  'head -20 README.md',
  'tail -n 5 src/part3/file310.ts',
  'wc -l src/part0/*',
  'cat package.json',
  'cat package.json | jq .scripts',
  'cat src/part0/file1.ts src/part0/file2.ts',
  "find . -name '*.ts' | head",
  'find src -type f | wc -l',
  'du -sh src',
  'stat package.json',
  '(cd src && ls) | wc -l',
  'pwd; ls; date',
  'sort README.md | uniq -c | sort -rn | head -3',
  'ls src/part0 | grep file1 | head -3',
] as const;

/** Commands that may do anything: mini-cc asks about them, or runs them in its writable sandbox. */
const OTHERS = [
  'node -e \'console.log(require("./package.json").name)\'',
  'npm test --silent',
  "python3 -c 'print(sum(range(100)))'",
  'python3 -c \'import json; print(json.load(open("package.json"))["name"])\'',
  'mkdir -p out && echo built > out/log.txt',
  'cp package.json out.json && rm out.json',
  "sed -i 's/value/value/' src/part2/file200.ts",
  'touch notes.md && rm -f notes.md',
  'for f in src/part0/file1*.ts; do wc -l "$f"; done',
  'printf "%s\\n" one two | tee -a notes.log',
  'git add -A --dry-run | head -3',
  'tar czf /tmp/bench.tgz src/part0 && rm /tmp/bench.tgz',
] as const;

/** A letter and a line in each of ten alphabets. */
const ALPHABETS = [
  {letter: 'x', line: 'what does this project do'},
  {letter: 'é', line: 'où est défini le module'},
  {letter: 'ж', line: 'что делает этот проект'},
  {letter: 'λ', line: 'τι κάνει αυτό το έργο'},
  {letter: 'ש', line: 'מה עושה הפרויקט הזה'},
  {letter: 'ع', line: 'ماذا يفعل هذا المشروع'},
  {letter: 'क', line: 'यह परियोजना क्या करती है'},
  {letter: '字', line: '这个项目是做什么的'},
  {letter: 'あ', line: 'このプロジェクトは何をするのか'},
  {letter: '한', line: '이 프로젝트는 무엇을 합니까'},
] as const;

export interface Drawn {
  readonly reading: readonly string[];
  readonly others: readonly string[];
  readonly letter: string;
  readonly line: string;
}

/** Draws for one round, without repeats. @param round its alphabet is that of no other round of ten */
export function drawRound(random: Random, round: number, count: number): Drawn {
  const alphabet = ALPHABETS[round % ALPHABETS.length]!;
  return {...alphabet, reading: drawSome(random, READING, count), others: drawSome(random, OTHERS, count)};
}

function drawSome<T>(random: Random, from: readonly T[], count: number): T[] {
  const left = [...from];
  return Array.from({length: Math.min(count, left.length)}, () => left.splice(random(left.length), 1)[0]!);
}
