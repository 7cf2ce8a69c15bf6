/** Answers one question after another, in the thread. */
import {type Parse, ProjectFiles} from '../project/project-files.ts';
import {Queries} from '../project/queries.ts';
import {planRename} from '../project/rename.ts';
import {SourceParser} from '../syntax/parser.ts';
import type {Message, Question, ThreadOptions} from './messages.ts';

export async function openAnswerer({root}: ThreadOptions): Promise<{answer(message: Message): Promise<unknown>}> {
  const parser = new SourceParser();
  const parse: Parse = (text, language, path) => parser.parse(text, language, path);
  const files = new ProjectFiles(root, parse);
  const queries = new Queries(files);
  return {
    async answer({listed, question}) {
      if (listed) await files.refresh(listed, () => false);
      return ask(question, queries, parse);
    },
  };
}

function ask(question: Question, queries: Queries, parse: Parse): unknown {
  switch (question.ask) {
    case 'definitions':
      return queries.definitions(question.query);
    case 'references':
      return queries.references({...question.query, name: question.query.name ?? ''});
    case 'outline':
      return queries.outline(question.path);
    case 'importers':
      return queries.importers(question.path);
    case 'imports':
      return queries.imports(question.path);
    case 'syntax':
      return queries.syntax(question.path);
    case 'coverage':
      return queries.coverage(question.path);
    case 'inheritance':
      return queries.inheritance(question.query);
    case 'files':
      return queries.listFiles(question.query);
    case 'unusedExports':
      return queries.unusedExports(question.query);
    case 'rename':
      return planRename(question.request, queries, parse);
  }
}
