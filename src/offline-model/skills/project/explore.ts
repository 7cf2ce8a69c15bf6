/** "help me understand this project": the main agent sends explore agents; an explore agent looks for itself. */
import type {Job, Route} from '../../job.ts';
import type {Work} from '../../skill.ts';
import {keywordsIn, looksLikeFile, pathsIn} from '../../words.ts';
import {delegate} from '../delegate.ts';
import {exploreReport, type Focus} from './explore-report.ts';
import {viewOf} from './project-view.ts';

const ASKS =
  /\b(?:explor\w*|understand\w*|overview|architecture|structured?|organi[sz]ed|tour|onboard\w*|survey|summar\w*|what(?:'s| is| are| does| do)|describe|explain|analy[sz]e|introduce|introduction|get(?:ting)? started|look around|know|familiari\w*|map|walk me|study|tell me about|about)\b|comprendre|explique|présente|изуч|объясни|разобраться|понять|обзор|расскажи|исследуй|проанализируй|了解|解释|分析|介绍|探索|概述|架构|理解|说明|看看/iu;
const ABOUT =
  /\b(?:project|code ?base|repo(?:sitory)?|code|architecture|structure[d]?|organi[sz]ed|workspace|folder|directory|app(?:lication)?|program|software|package|library|here|tests|scripts|explore)\b|projet|dépôt|проект|репозитор|кодов|код|архитектур|项目|代码库|仓库|代码|工程|架构/iu;
/** Words of such requests that name nothing in the project. */
const VOCABULARY =
  /\b(?:explor\w*|understand\w*|overview|architecture|structured?|organi[sz]\w*|tour|onboard\w*|survey|summar\w*|analy[sz]e|analysis|introduc\w*|started|project'?s?|codebase|workspace|folders?|director\w*|app|application|program|software|packages?|library|entry|entrypoints?|points?|languages?|scripts?|commands?|tests?|documentation|docs|main|layout|stack|technolog\w*|tech|dependenc\w*|thorough\w*|deep\w*|brief\w*|short|quick\w*|detail\w*|high|level|important|key|purpose|around|walk|study|map|familiari\w*|learn|started|overall|general|whole|entire|full|first|current|different|together|design|patterns?|components?|report|run|ci|per|each|itself|called|built|structure|comprendre|projet|explique\w*|aide-moi|moi|présente\w*|en)\b/giu;

const STRUCTURE =
  'Explore this project: languages, entry points, main folders and documentation. Report with file:line.';
const TESTS =
  'Explore the tests and scripts of this project: where the tests are, how they run, which commands and CI there are. Report with file:line.';

export const explore: Route = (job) => {
  const {text} = job;
  if (!ASKS.test(text) || text.length > 800) return undefined;
  // "what is Workspace?" asks for a name.
  if (/^(?:what(?:'s| is)|explain|describe)\s+[`"']?[A-Z]\w*[`"']?[\s?.!]*$/.test(text)) return undefined;
  const folders = pathsIn(text).filter((path) => !looksLikeFile(path) && path !== 'file:line');
  if (!ABOUT.test(text) && folders.length === 0) return undefined;
  const rest = folders.reduce((words, folder) => words.replace(folder, ' '), text).replace(VOCABULARY, ' ');
  // Something else is named: that is what is asked about.
  if (
    /\p{Script=Latin}/u.test(text) &&
    keywordsIn(rest.replace(/file:line|[\p{Script=Cyrillic}\p{Script=Han}]+/gu, ' ')).length > 0
  )
    return undefined;
  if (pathsIn(text).some(looksLikeFile)) return undefined;
  return job.main && job.toolbox.agents.includes('explore')
    ? dispatching(job, folders)
    : looking(job, folders[0], focusOf(text));
};

function dispatching(job: Job, folders: readonly string[]): Work<string> {
  if (folders.length === 0) {
    return delegate(job, [
      {agent: 'explore', description: 'explore codebase', prompt: STRUCTURE},
      {agent: 'explore', description: 'explore tests and scripts', prompt: TESTS},
    ]);
  }
  return delegate(
    job,
    folders.slice(0, 4).map((folder) => ({
      agent: 'explore',
      description: `explore ${folder}`,
      prompt: `Explore the folder ${folder}: its structure and entry points. Report with file:line.`,
    })),
  );
}

function focusOf(text: string): Focus {
  if (/\btests\b/i.test(text) && !/entry points/i.test(text)) return 'tests';
  return /\bentry points\b/i.test(text) && !/\btests\b/i.test(text) ? 'structure' : 'all';
}

function* looking(job: Job, scope: string | undefined, focus: Focus): Work<string> {
  const view = yield* viewOf(job, scope, focus);
  return typeof view === 'string' ? view : exploreReport(view);
}
