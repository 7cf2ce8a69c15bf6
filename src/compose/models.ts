/** Creates the models of a session, its budget, and the JSON Schema that its answers must match. */
import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {SessionParts, SessionState} from '../core/session/parts.ts';
import {checkPrice, createBudget} from '../core/turn/budget.ts';
import {type AnswerSchema, compileAnswerSchema} from '../core/turn/structured-answer.ts';
import {describeReadError, getErrorMessage, UsageError} from '../core/util/errors.ts';
import {ModelChooser} from '../models/choose.ts';
import {PRICES_AS_OF} from '../models/prices.ts';
import type {ModelResolver} from '../models/resolve.ts';
import {getMainModel} from './options.ts';
import {MAIN, type Project, type Records} from './project.ts';

const FLAG = '--json-schema';
const MAX_SCHEMA_BYTES = 1024 * 1024;

export type SessionModels = Awaited<ReturnType<typeof createModels>>;

/**
 * @param mainAgent agent that the session runs as
 * @throws UsageError for a model that cannot be used, a budget if a price is not known, and an invalid schema
 */
export async function createModels(
  project: Project,
  {emit, firstConversation}: Records,
  resolver: ModelResolver,
  mainAgent: AgentDefinition | undefined,
) {
  const {options, settings} = project;
  const {model, warnings} = getMainModel(resolver, options, settings, mainAgent);
  const {theme, notify, vim, title = true} = settings;
  const state: SessionState = {
    conversation: firstConversation,
    model,
    title,
    ...(theme && {theme}),
    ...(notify && {notify}),
    ...(vim && {vim}),
  };
  const summaryName = settings.compaction?.model;
  const summaryModel = summaryName === undefined ? undefined : resolver.resolve(summaryName);
  const maxBudgetUsd = options.maxBudgetUsd ?? mainAgent?.maxBudgetUsd ?? settings.limits?.maxBudgetUsd;
  for (const asked of summaryModel ? [model, summaryModel] : [model]) checkPrice(asked, maxBudgetUsd);
  const budget = createBudget({maxBudgetUsd}, MAIN, (usage) => emit({type: 'cost', usage}), options.reserveAbove);
  const resolveModel: SessionParts['resolveModel'] = (name, thinking) => {
    const resolved = resolver.resolve(name, thinking);
    checkPrice(resolved, budget.limitUsd);
    return resolved;
  };
  return {
    state,
    resolver,
    resolveModel,
    pricesAsOf: PRICES_AS_OF,
    chooser: new ModelChooser(resolver, settings, () => state.model, options.env),
    summaryModel,
    budget,
    answerSchema: await getAnswerSchema(project, mainAgent),
    warnings,
  };
}

async function getAnswerSchema(
  {options, root}: Project,
  mainAgent: AgentDefinition | undefined,
): Promise<AnswerSchema | undefined> {
  const given = options.jsonSchema;
  if (given !== undefined) {
    const where = isJson(given) ? FLAG : `${FLAG} ${path.resolve(root, given)}`;
    return compileAnswerSchema(readSchema(given, root, where), where);
  }
  const schema = mainAgent?.outputSchema;
  return schema && compileAnswerSchema(schema, `outputSchema of ${mainAgent.name}`);
}

function isJson(given: string): boolean {
  return /^\s*(?:[[{"]|$)/.test(given);
}

/** @param given JSON, or the path of a file @param where name for the error */
function readSchema(given: string, root: string, where: string): unknown {
  const text = isJson(given) ? given : readSchemaFile(path.resolve(root, given));
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${where} is no JSON: ${getErrorMessage(error)}`, {cause: error});
  }
}

function readSchemaFile(file: string): string {
  try {
    const stat = statSync(file);
    if (!stat.isFile() || stat.size > MAX_SCHEMA_BYTES) {
      throw new UsageError(`${FLAG} ${file} must be a file of at most 1 MB, or JSON in its place`);
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${FLAG} ${file} ${describeReadError(file, error, 'does not exist')}`, {cause: error});
  }
}
