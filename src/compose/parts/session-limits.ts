/** What binds a session's answers: its budget, and the JSON Schema that they must match. */
import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Settings} from '../../config/settings.ts';
import type {AgentDefinition} from '../../core/agent-types.ts';
import type {Emit} from '../../core/contract/events.ts';
import type {Model} from '../../core/contract/model.ts';
import type {Budget} from '../../core/contract/tool.ts';
import {type AnswerSchema, compileAnswerSchema} from '../../core/turn/answer/answer-schema.ts';
import {checkPrice, createBudget} from '../../core/turn/limits/budget.ts';
import {describeReadError, getErrorMessage, UsageError} from '../../core/util/errors.ts';
import type {SessionOptions} from '../options.ts';

const FLAG = '--json-schema';
const MAX_SCHEMA_BYTES = 1024 * 1024;

interface LimitedSession {
  readonly options: SessionOptions;
  readonly root: string;
  readonly settings: Settings;
  readonly mainAgent: AgentDefinition | undefined;
  /** That the session asks by itself: its own, and the one of summaries. */
  readonly models: readonly Model[];
  readonly emit: Emit;
}

/** @throws UsageError for a budget where a price is not known, and for a schema that is none */
export async function createSessionLimits(
  session: LimitedSession,
): Promise<{readonly budget: Budget; readonly answerSchema: AnswerSchema | undefined}> {
  const {options, settings, mainAgent, models, emit} = session;
  const maxBudgetUsd = options.maxBudgetUsd ?? mainAgent?.maxBudgetUsd ?? settings.limits?.maxBudgetUsd;
  for (const model of models) checkPrice(model, maxBudgetUsd);
  const budget = createBudget({maxBudgetUsd}, 'main', (usage) => emit({type: 'cost', usage}));
  return {budget, answerSchema: await getAnswerSchema(session)};
}

async function getAnswerSchema({options, root, mainAgent}: LimitedSession): Promise<AnswerSchema | undefined> {
  if (options.jsonSchema !== undefined) return compileAnswerSchema(readSchema(options.jsonSchema, root), FLAG);
  const schema = mainAgent?.outputSchema;
  return schema && compileAnswerSchema(schema, `outputSchema of ${mainAgent.name}`);
}

/** @param given JSON, or the path of a file */
function readSchema(given: string, root: string): unknown {
  const isJson = /^\s*(?:[[{"]|$)/.test(given);
  const file = path.resolve(root, given);
  const text = isJson ? given : readSchemaFile(file);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${isJson ? FLAG : `${FLAG} ${file}`} is no JSON: ${getErrorMessage(error)}`, {cause: error});
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
