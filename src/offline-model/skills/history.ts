/** Answers questions about the history of the repository by git: latest commits, those of a file, authors, tags, branches. */
import {bullets, getReason, notDone, paragraphs} from '../report.ts';
import {askOne, type Job, type Route, type Work} from '../skill.ts';
import {findPaths} from '../words.ts';
import {projectFacts} from './project/project-facts.ts';

const LOG = "git log --format='%h %ad %an: %s' --date=short -n";
const [DEFAULT_COMMITS, MAX_SHOWN] = [10, 40];

const COMMITS =
  /\b(?:last|latest|recent|letzten?|derniers?|últimos)\b.*\bcommits?\b|последн.*коммит|最近.*提交|\bgit (?:log|history)\b/iu;
const OF_FILE =
  /^(?:who|when was)\b.*\b(?:touched|changed|edited)\b|\b(?:history|commits) (?:of|to)\b|^what changed in\b/i;
const AUTHORS = /\btop (?:contributor|committer)s\b|^who (?:has )?(?:commit|contribut)\w* .*\bmost\b/i;
const RELEASED = /^when was v?(\d+(?:\.\w+)+) (?:released|tagged)\b/i;
const NAMES =
  /^(?:list|show|what|which)(?: (?:all|me|the|are the))* (branch|tag)(?:e?s)?(?: (?:are there|am i on))?[?.]?$/i;

export const history: Route = (job) => {
  const released = RELEASED.exec(job.text)?.[1];
  if (released !== undefined) return showRelease(released, job);
  const command = findCommand(job.text);
  return command === undefined ? undefined : show(command, job);
};

function findCommand(text: string): string | undefined {
  const [path = '', ...others] = findPaths(text);
  if (others.length > 0 || path.includes("'")) return undefined;
  const ofPath = path && ` -- '${path}'`;
  if (AUTHORS.test(text)) return `git shortlog -sn --no-merges HEAD${ofPath}`;
  if (path) return OF_FILE.test(text) ? `${LOG} ${DEFAULT_COMMITS}${ofPath}` : undefined;
  if (COMMITS.test(text)) return `${LOG} ${/\d+/.exec(text)?.[0] ?? DEFAULT_COMMITS}`;
  const names = NAMES.exec(text)?.[1];
  return names && `git ${names.toLowerCase()} --list`;
}

/** Where no tag has the name of the release, a file may say when it was made. */
function* showRelease(name: string, job: Job): Work<string> {
  const command = `git for-each-ref --format='%(refname:short) %(creatordate:short)' 'refs/tags/*${name}'`;
  const shown = yield* show(command, job);
  const work = shown.startsWith('-') ? undefined : projectFacts(job);
  return work ? yield* work : shown;
}

function* show(command: string, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.bash(command, 'Read the history'));
  if (result.outcome !== 'ok') return notDone(`git did not answer: ${getReason(result)}.`);
  const lines = result.text.split('\n').filter((line) => !/^\s*(?:\(no output\))?$/.test(line));
  return paragraphs(bullets(lines, MAX_SHOWN) || 'git names none.', `(By \`${command}\`.)`);
}
