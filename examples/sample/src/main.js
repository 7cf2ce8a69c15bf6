import {greet} from './greet.js';

// TODO: read the name from the command line
console.log(greet('world'));
