/** Answers greetings, thanks, "help" and "who are you": says what the model can do and how to set up a real one. */

import {bullets, HOW_TO_SET_UP, paragraphs} from '../report.ts';
import {type Route, say} from '../skill.ts';

const HELLO =
  /^(?:hi|hello|hey|yo|good (?:morning|evening|afternoon)|salut|bonjour|привет|здравствуй(?:те)?|你好|您好|help|aide|помощь|помоги|帮助|test|ping)(?: there| you| all| me| please)*[\s!.?,。！？]*$/iu;
/** These ask about mini-cc. "Which model is used by default?" and "how do I use this?" ask about the project. */
const WHO =
  /^(?:who|what) are you\b|^what('s| is) your name|^what (?:can|do) you do\b|^what is mini-?cc\b|^how (?:do|can) i (?:set ?up|use|configure|talk to) (?:you|mini-?cc|an? (?:real )?(?:model|(?:api )?key))\b|^(?:which|what) model (?:are you|is this|am i)\b|^are you (?:an? )?(?:real |ai\b|(?:language )?model|claude|offline|there)|^qui es-tu|^que (?:peux|sais)-tu|^кто ты|^что ты умеешь|^你是谁|^你能做什么/iu;
const THANKS =
  /^(?:thanks?|thank you|thx|ty|ok(?:ay)?|great|nice|good|perfect|cool|merci|спасибо|谢谢)(?: (?:a lot|you|so much|very much|job|work))*[\s!.。！]*$/iu;

export const greet: Route = ({text, toolbox, main}) => {
  if (THANKS.test(text)) return say('You are welcome.');
  if (text !== '' && !HELLO.test(text) && !WHO.test(text)) return undefined;
  const agents =
    main && toolbox.agents.length > 0 ? [`\`Task(explore): …\` — agents: ${toolbox.agents.join(', ')}`] : [];
  return say(
    paragraphs(
      'I am the offline model built into mini-cc: a rule-based assistant, no language model. I use real tools on the files here. I can:',
      bullets([
        'explore: "help me understand this project"',
        'find: "where is parseConfig defined?", "who calls parseConfig?", "what is parseConfig?"',
        'list: "list *.ts files in src", "list the scripts", "list TODOs"',
        'read: "read src/index.ts", "summarise src/index.ts"',
        'run: "run `npm test`"',
        'edit: "create notes.txt with \\"hello\\"", "rename foo to bar in src/", "replace \\"a\\" with \\"b\\" in README.md"',
        'plan and review: "plan a retry option for the client", "review src/"',
        ...agents,
      ]),
      HOW_TO_SET_UP,
    ),
  );
};
