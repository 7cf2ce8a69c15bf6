/** Finds what can be tested: agents with their cases, and skills, which the agent `code` works with and without. */
import {existsSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {readJsonAgent} from '../agents/json-source.ts';
import {FINDERS, VERIFIER} from '../agents/shipped/shipped.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {createAgentPrompt} from '../core/turn/system-prompt.ts';
import {UsageError} from '../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {formatProblem} from '../core/util/problem.ts';
import {EVALS_FOLDER, findAgentCases, findSkillCases, listAgentsWithCases, SKILL_EVALS} from '../evals/case-file.ts';
import type {CaseSet} from '../evals/contract.ts';
import type {Arm, TestedAgent} from '../evals/run-tests.ts';
import type {TestSubjects} from '../evals/test-command.ts';
import {SKILL} from '../extensions/prompts/skill-tool.ts';
import {git} from '../storage/trees/git.ts';
import {findRepository} from '../storage/trees/repository.ts';
import {ALL_TOOLS, getListable} from './known-tools.ts';
import type {SessionTools} from './tools.ts';

export function createAgentSubjects(
  parts: SessionParts,
  {getSkill}: SessionTools,
  root: string,
  baseline: string | undefined,
): TestSubjects {
  const create = (definition: AgentDefinition, name: string) => createArm(definition, name, parts, getSkill);
  return {
    what: 'agent',
    names: [...parts.agents.list().map(({name}) => name), ...FINDERS, VERIFIER],
    listWithCases: () => listAgentsWithCases(root),
    find: (name) => findAgentCases(name, root, ALL_TOOLS),
    getPlace: (name) => path.join(EVALS_FOLDER, `${name}.json`),
    async createTarget(name, set): Promise<TestedAgent> {
      const own = create(parts.agents.get(name)!, name);
      if (baseline === undefined) return {agent: name, set, arms: [own]};
      if (baseline === 'none') {
        return {agent: name, set, arms: [own, {...own, name: 'none', definition: {...own.definition, prompt: ''}}]};
      }
      return {agent: name, set, arms: [own, create(await readBaseline(name, baseline, root, parts), baseline)]};
    },
  };
}

/** A skill is tested by the agent `code`, which has its text, against the same agent without it. */
export function createSkillSubjects(parts: SessionParts, {getSkill, found, baseTools}: SessionTools): TestSubjects {
  const skills = found.prompts.filter(({kind}) => kind === 'skill');
  const getFolder = (name: string) => skills.find((skill) => skill.name === name)?.folder ?? name;
  const getPlace = (name: string) => path.join(getFolder(name), SKILL_EVALS, 'evals.json');
  // Without the tool that reads skills, neither of the two can look up the text.
  const tools = baseTools.map(({name}) => name).filter((name) => name !== SKILL.name);
  return {
    what: 'skill',
    names: skills.map(({name}) => name),
    listWithCases: () => skills.map(({name}) => name).filter((name) => existsSync(getPlace(name))),
    find: (name) => findSkillCases(name, getFolder(name), ALL_TOOLS),
    getPlace,
    async createTarget(name: string, set: CaseSet): Promise<TestedAgent> {
      const without: AgentDefinition = {...parts.agents.get('code')!, tools};
      const own = createArm({...without, skills: [name]}, name, parts, getSkill);
      return {agent: name, set, arms: [own, createArm(without, 'none', parts, getSkill)]};
    },
  };
}

/** Puts the texts of its skills into the definition, so that its trials run again when a text has changed. */
function createArm(
  {skills, ...definition}: AgentDefinition,
  name: string,
  parts: SessionParts,
  getSkill: SessionTools['getSkill'],
): Arm {
  const chosen = parts.chooseModel(definition);
  const warnings = [...chosen.warnings];
  const prompt = createAgentPrompt({...definition, ...(skills && {skills})}, getSkill, (text) => warnings.push(text));
  return {name, definition: {...definition, prompt}, model: chosen.model, warnings};
}

/** Reads another definition of an agent, from a file or from a revision of git. @throws UsageError when there is none */
async function readBaseline(
  name: string,
  baseline: string,
  root: string,
  parts: SessionParts,
): Promise<AgentDefinition> {
  const file = path.resolve(root, baseline);
  if (existsSync(file)) return parseBaseline(file, baseline, parts);
  const repository = await findRepository(root).catch(() => undefined);
  const place = path.join(repository?.prefix ?? '', '.mini-cc', 'agents', `${name}.json`);
  const shown = repository && (await git(root, ['show', '--end-of-options', `${baseline}:${place}`]));
  if (shown?.exitCode !== 0) {
    throw new UsageError(`--baseline ${baseline} is no file, and no git revision that has ${place}`);
  }
  const folder = createTemporaryFolder();
  try {
    const copy = path.join(folder, `${name}.json`);
    writeFileSync(copy, shown.stdout);
    return parseBaseline(copy, `${baseline}:${place}`, parts);
  } finally {
    removeTemporaryFolder(folder);
  }
}

function parseBaseline(file: string, shown: string, parts: SessionParts): AgentDefinition {
  const listable = getListable(parts.run.tools);
  const {agent, problems} = readJsonAgent(file, {listable, dialect: 'json', mayWiden: () => false, anyName: true});
  if (agent) return agent.definition;
  const [first] = problems;
  throw new UsageError(`--baseline: ${first ? formatProblem({...first, file: shown}) : `${shown} is no definition`}`);
}
