/** A JSON Schema that the answer of a run must match. */
import {UsageError} from '../util/errors.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface AnswerSchema {
  readonly schema: JsonObject;
  /** @returns what is wrong with the value, for the model; undefined when it matches */
  findProblem(value: unknown): string | undefined;
}

/** Most problems of one value that the message names. */
const MAX_PROBLEMS = 10;

/**
 * Compiles a schema of draft 2020-12, or of draft 7 when the schema names it. Loads nothing from elsewhere.
 * @param where name for the error, e.g. `--json-schema`
 * @throws UsageError in one line when it is not a JSON Schema
 */
export async function compileAnswerSchema(schema: unknown, where: string): Promise<AnswerSchema> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${where}: a JSON Schema is an object, such as {"type": "object", "properties": {…}}`);
  }
  const {$schema} = schema as JsonObject;
  const isDraft7 = typeof $schema === 'string' && /draft-0[67]/.test($schema);
  const {default: ajv} = isDraft7 ? await import('ajv') : await import('ajv/dist/2020.js');
  // The package is CommonJS.
  const Ajv = ('default' in ajv ? ajv.default : ajv) as typeof import('ajv').Ajv;
  // The validator does not check formats, and ignores keywords that it does not know.
  const validator = new Ajv({allErrors: true, strict: false, validateFormats: false, logger: false});
  try {
    const validate = validator.compile(schema);
    return {
      schema: schema as JsonObject,
      findProblem: (value) => (validate(value) ? undefined : formatProblems(validate.errors ?? [])),
    };
  } catch (error) {
    const what = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
    throw new UsageError(`${where} is no JSON Schema: ${what}`, {cause: error});
  }
}

function formatProblems(
  errors: readonly {readonly instancePath: string; readonly message?: string; readonly params: object}[],
): string {
  const texts = errors.map(({instancePath, message = 'is wrong', params}) => {
    const {additionalProperty, allowedValues} = params as Readonly<Record<string, unknown>>;
    const detail = additionalProperty ?? (allowedValues === undefined ? undefined : JSON.stringify(allowedValues));
    return `${instancePath || 'the answer'} ${message}${detail === undefined ? '' : `: ${String(detail)}`}`;
  });
  const more = texts.length > MAX_PROBLEMS ? `; and ${texts.length - MAX_PROBLEMS} more` : '';
  return `${[...new Set(texts)].slice(0, MAX_PROBLEMS).join('; ')}${more}`;
}
