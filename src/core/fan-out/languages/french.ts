/** Patterns for French prompts. Verbs are listed in their infinitive and their imperative. */
import {PATH, type PromptLanguage, word} from './language.ts';

const ALL = '(?:tous|toutes)\\s+(?:les|mes|nos|ces|ses)|chaque|chacun(?:e)?\\s+(?:des|de\\s+ces)|tout\\s+(?=fichier)';
const BETWEEN =
  '(?:\\s+(?!(?:de|des|du|dans|pour|qui|que|et|ou|à|avec|sans|sur|ce|choses?|fois|jours?)(?![\\p{L}]))[\\p{L}\\p{N}_+#.*/-]+){0,2}?';
const FILES = `fichiers?|sources|${PATH}`;
const CODE =
  'fonctions?|méthodes?|methodes?|classes?|modules?|composants?|interfaces?|types?|structures?|tests?|imports?|exports?|' +
  'commentaires?|variables?|constantes?|scripts?|routes?|services?|modèles?|vues?|en-têtes?|entêtes?|appels?|occurrences?|' +
  'références?|commandes?|outils?|paquets?|contrôleurs?|gabarits?|déclarations?';
/** Adds the endings of verbs of the first group. */
const er = (...stems: readonly string[]) => `(?:${stems.join('|')})(?:er|ez|e|ons)`;
const FRENCH_CHANGES = [
  er('amélior', 'amelior', 'refactor', 'refactoris', 'remani', 'renomm', 'ajout', 'modifi', 'chang', 'remplac'),
  er(
    'migr',
    'document',
    'annot',
    'format',
    'reformat',
    'simplifi',
    'optimis',
    'supprim',
    'retir',
    'adapt',
    'utilis',
    'typ',
  ),
  er(
    'fusionn',
    'uniformis',
    'normalis',
    'modernis',
    'répar',
    'repar',
    'déplac',
    'factoris',
    'insér',
    'édit',
    'port',
    'tri',
  ),
  er('commentair', 'pass', 'complét', 'génér', 'indent', 'appliqu', 'enlev', 'effac', 'préfix', 'suffix', 'renforc'),
  'corrig(?:er|ez|e|eons)|chang(?:er|ez|e|eons)|nettoyer|nettoyez|nettoie|enlève|génère|complète|insère|répare',
  'commenter|commentez|mett(?:re|ez|ons)|mets|convertir|convertis(?:sez|sons)?|traduire|traduis(?:ez)?',
  'réécrire|réécris|réécrivez|écrire|écris|écrivez|mettre\\s+à\\s+jour|refaire|refais|refaites',
].join('|');
const CHECKS = `${er('vérifi', 'verifi', 'contrôl', 'audit', 'inspect', 'analys', 'examin', 'valid')}|reli(?:re|s|sez)|revoir|revois|revoyez`;
const READS = `${er('expliqu', 'list', 'montr', 'affich', 'trouv', 'cherch', 'résum', 'compt', 'donn', 'énumèr', 'énumér', 'compar', 'indiqu')}|décri(?:re|s|vez)|lire|lis(?:ez)?|dis(?:-moi)?|dites(?:-moi)?`;

export const french: PromptLanguage = {
  quantified: {
    files: word(`(?:${ALL})${BETWEEN}\\s*(?:${FILES})`),
    code: word(`(?:${ALL})${BETWEEN}\\s+(?:${CODE})`),
  },
  changes: word(`(?<!(?:ne|sans)\\s)(?:${FRENCH_CHANGES})`),
  checks: word(CHECKS),
  reads: new RegExp(`^(?:${READS})(?![\\p{L}\\p{N}_])`, 'iu'),
  thenChanges: new RegExp(`(?:[,;]|(?<![\\p{L}])(?:et|puis))\\s*(?:puis\\s+)?(?:${FRENCH_CHANGES})(?![\\p{L}])`, 'iu'),
  handles: new RegExp(
    `^(?:${er('supprim', 'effac', 'déplac', 'copi', 'enregistr', 'ferm', 'télécharg', 'lanc', 'exécut', 'list', 'affich')}|ouvr(?:ir|e|ez)|commit(?:ter|te|tez))\\s+(?:${ALL})${BETWEEN}\\s*(?:${FILES}|tests?|scripts?|commandes?|paquets?)`,
    'iu',
  ),
  asks: /^(?:pourquoi|comment|quel(?:le)?s?|que|qu['’]|qui|où|quand|combien|est-ce|à\s+quoi|y\s+a-t-il|sais-tu|savez-vous)(?![\p{L}])/iu,
  requests:
    /^(?:est-ce\s+que\s+)?(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu\s+peux|vous\s+pouvez|tu\s+pourrais|vous\s+pourriez|veux-tu|voulez-vous)(?![\p{L}])/iu,
  wishes: word(
    `(?:en\\s+sorte\\s+que|pour\\s+que|afin\\s+que|faire|fais|faites|veux\\s+que|voudrais\\s+que|assure(?:r|z)?(?:-toi|-vous)?\\s+que)[^.!?;]*(?:${ALL})[^.!?;]*(?:pass(?:e|ent|er)|marchent|fonctionnent|compilent|réussissent|verts?)|(?:faire|fais|faites)\\s+(?:passer|marcher|fonctionner|compiler)`,
  ),
  aside: word(
    '(?:dans|de)\\s+(?:ce|le)\\s+(?:fichier|module|composant)(?:\\s+(?:actuel|courant|ouvert))?(?!\\s+\\p{L}*[./])',
  ),
};
