/** Answers questions about the history of the repository by git: latest commits, those of a file, authors, tags. */
import {bullets, getReason, notDone, paragraphs} from '../report.ts';
import {askOne, type Job, type Route, type Work} from '../skill.ts';
import {findPaths} from '../words.ts';

const LOG = "git log --format='%h %ad %an: %s' --date=short -n";
/** Lists the authors of the commits, with the number of commits of each. */
export const LIST_AUTHORS = 'git shortlog -sn --no-merges HEAD';
const DEFAULT_COMMITS = 10;
const MAX_SHOWN = 40;

const COMMITS =
  /\b(?:last|latest|recent|letzten?|derniers?|últimos)\b.*\bcommits?\b|последн.*коммит|最近.*提交|\bgit (?:log|history)\b/iu;
const OF_FILE =
  /^(?:who|when was)\b.*\b(?:touched|changed|edited)\b|\b(?:history|commits) (?:of|to)\b|^what changed in\b/i;
const AUTHORS =
  /\btop (?:contributor|committer)s\b|^who (?:has )?(?:commit|contribut)\w* .*\bmost\b|^(?:list|show|who are|who were)(?: me| all| the)* (?:contributor|committer)s[\s?.!]*$/i;
const COUNT =
  /^how many (?:git )?commits(?: are there| exist| does \w+ have| do we have| has \w+)?(?: in total| so far| here| in (?:this|the) \w+)?[\s?.!]*$/i;
const FIRST = /^(?:when|what|which|who|show|list)\b.*\b(?:first|oldest|initial)\b.*\bcommit\b/i;
const TAGS = /^(?:list|show|what|which)(?: (?:all|me|the|are the))* (?:git )?tags(?: are there)?[?.]?$/i;

export const history: Route = (job) => {
  const command = findCommand(job.text);
  return command === undefined ? undefined : showHistory(command, job);
};

function findCommand(text: string): string | undefined {
  const [path = '', ...others] = findPaths(text);
  if (others.length > 0 || path.includes("'")) return undefined;
  const ofPath = path && ` -- '${path}'`;
  if (AUTHORS.test(text)) return `${LIST_AUTHORS}${ofPath}`;
  if (path) return OF_FILE.test(text) ? `${LOG} ${DEFAULT_COMMITS}${ofPath}` : undefined;
  if (COUNT.test(text)) return 'git rev-list --count HEAD';
  if (FIRST.test(text)) return `${LOG} 1 --max-parents=0`;
  if (TAGS.test(text)) return "git for-each-ref --format='%(refname:short) %(creatordate:short)' refs/tags";
  return COMMITS.test(text) ? `${LOG} ${/\d+/.exec(text)?.[0] ?? DEFAULT_COMMITS}` : undefined;
}

export function* showHistory(command: string, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.bash(command, 'Read the history'));
  if (result.outcome !== 'ok') return notDone(`git did not answer: ${getReason(result)}.`);
  const lines = result.text.split('\n').filter((line) => !/^\s*(?:\(no output\))?$/.test(line));
  return paragraphs(bullets(lines, MAX_SHOWN) || 'git names none.', `(By \`${command}\`.)`);
}
