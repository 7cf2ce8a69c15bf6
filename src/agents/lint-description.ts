/** Can the main model choose an agent by its description? */
import type {Place, ProblemList} from '../core/problem.ts';

/** Characters. Descriptions of all agents are part of every request. */
const LONG = 2000;

/** Words that could stand in the description of any agent. */
const SAYS_NOTHING = new Set(
  `a an and any all are as at be best better by can custom do does everything expert for from general generic good great
  help helper helpful helps i in is it its me my need needs new of on or our purpose skilled smart specialist stuff
  subagent tasks task that the things this thing to use used useful user users uses using various very want wants when
  which who with work works you your agent agents assistant ai`.split(/\s+/),
);

export function lintDescription(description: string, place: Place, problems: ProblemList): void {
  const words = wordsOf(description);
  const telling = new Set(words.filter((word) => !SAYS_NOTHING.has(word) && !/^[a-z0-9]$/.test(word)));
  if (words.length < 3 || telling.size < 2) {
    problems.warn(
      'vague-description',
      place,
      'description is too vague to choose this agent by: say for which work it is, and what it gives back',
    );
  }
  if (description.length > LONG) {
    const tokens = Math.round(description.length / 4);
    problems.warn(
      'long-description',
      place,
      `description costs about ${tokens} tokens in every request of the main agent: examples belong in the prompt`,
    );
  }
}

/** Also of languages that set no spaces. */
function wordsOf(text: string): string[] {
  const segments = new Intl.Segmenter('en', {granularity: 'word'}).segment(text.slice(0, LONG));
  return [...segments].filter(({isWordLike}) => isWordLike).map(({segment}) => segment.toLowerCase());
}
