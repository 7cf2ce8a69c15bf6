import{i as e,o as t,r as n,t as r}from"./rolldown-runtime-Dlfrvzb7.js";import{Lt as i}from"./base-B-8-fAFC.js";import{R as a,z as o}from"./session-CLbk7yKF.js";import{a as s,o as c}from"./model-lb8IRJbE.js";import{i as l}from"./connection-BOAPrtft.js";import*as u from"node:fs";import{createHash as d,randomUUID as f,randomUUID as p}from"node:crypto";import*as m from"node:path";import{debuglog as h}from"node:util";import{URL as g}from"node:url";import{EventEmitter as _}from"node:events";import{createRequire as v}from"module";var y=class{constructor(e){this.value=void 0,this.next=null,this.value=e}},b=class{constructor(){this.length=0,this.head=null,this.tail=null}push(e){let t=new y(e);return this.length?this.tail.next=t:this.head=t,this.tail=t,this.length+=1,t}shift(){if(this.length){let e=this.head;return this.head=this.head.next,--this.length,e}return null}},x=class{constructor(e=!1){this.ignoreErrors=e,this.queue=new b,this.pending=/* @__PURE__ */ new Set,this.newPromise()}add(e){this.pending.add(e),e.then(t=>{this.pending.delete(e),this.queue.length===0&&this.resolvePromise(t),this.queue.push(t)}).catch(t=>{this.ignoreErrors&&this.queue.push(void 0),this.pending.delete(e),this.rejectPromise(t)})}async waitAll(){await Promise.all(this.pending)}numTotal(){return this.pending.size+this.queue.length}numPending(){return this.pending.size}numQueued(){return this.queue.length}resolvePromise(e){this.resolve(e),this.newPromise()}rejectPromise(e){this.reject(e),this.newPromise()}newPromise(){this.nextPromise=new Promise((e,t)=>{this.resolve=e,this.reject=t})}async wait(){return this.nextPromise}async fetch(){if(this.pending.size!==0||this.queue.length!==0){for(;this.queue.length===0;)try{await this.wait()}catch(e){this.ignoreErrors||console.error(`Unexpected Error in AsyncFifoQueue`,e)}return this.queue.shift()?.value}}},S=class{static normalize(e){if(Number.isFinite(e))return{type:`fixed`,delay:e};if(e)return e}static calculate(e,t,n,r,i){if(e)return C(e,i)(t,e.type,n,r)}};S.builtinStrategies={fixed:function(e,t=0){return function(){if(t>0){let n=e*(1-t);return Math.floor(Math.random()*e*t+n)}return e}},exponential:function(e,t=0){return function(n){if(t>0){let r=Math.round(2**(n-1)*e),i=r*(1-t);return Math.floor(Math.random()*r*t+i)}return Math.round(2**(n-1)*e)}}};function C(e,t){if(e.type in S.builtinStrategies)return S.builtinStrategies[e.type](e.delay,e.jitter);if(t)return t;throw Error(`Unknown backoff strategy ${e.type}.
      If a custom backoff strategy is used, specify it when the queue is created.`)}s();const w=/* @__PURE__ */ c(`bullmq/dist/esm/classes/child-pool.js ChildPool`);var ee=(/* @__PURE__ */ r(((t,n)=>{let{EventEmitter:r}=e(`events`);var i=class{constructor(){this.eventEmitter=new r,this.onabort=null,this.aborted=!1,this.reason=void 0}toString(){return`[object AbortSignal]`}get[Symbol.toStringTag](){return`AbortSignal`}removeEventListener(e,t){this.eventEmitter.removeListener(e,t)}addEventListener(e,t){this.eventEmitter.on(e,t)}dispatchEvent(e){let t={type:e,target:this},n=`on${e}`;typeof this[n]==`function`&&this[n](t),this.eventEmitter.emit(e,t)}throwIfAborted(){if(this.aborted)throw this.reason}static abort(e){let t=new a;return t.abort(),t.signal}static timeout(e){let t=new a;return setTimeout(()=>t.abort(/* @__PURE__ */ Error(`TimeoutError`)),e),t.signal}},a=class{constructor(){this.signal=new i}abort(e){this.signal.aborted||(this.signal.aborted=!0,e?this.signal.reason=e:this.signal.reason=/* @__PURE__ */ Error(`AbortError`),this.signal.dispatchEvent(`abort`))}toString(){return`[object AbortController]`}get[Symbol.toStringTag](){return`AbortController`}};n.exports={AbortController:a,AbortSignal:i}})))();let T;T=globalThis.AbortController?globalThis.AbortController:ee.AbortController;var E=class extends T{},D;(function(e){e[e.Init=0]=`Init`,e[e.Start=1]=`Start`,e[e.Stop=2]=`Stop`,e[e.GetChildrenValuesResponse=3]=`GetChildrenValuesResponse`,e[e.GetIgnoredChildrenFailuresResponse=4]=`GetIgnoredChildrenFailuresResponse`,e[e.GetDependenciesCountResponse=5]=`GetDependenciesCountResponse`,e[e.MoveToWaitingChildrenResponse=6]=`MoveToWaitingChildrenResponse`,e[e.Cancel=7]=`Cancel`,e[e.GetDependenciesResponse=8]=`GetDependenciesResponse`})(D||={});var O;(function(e){e[e.JobNotExist=-1]=`JobNotExist`,e[e.JobLockNotExist=-2]=`JobLockNotExist`,e[e.JobNotInState=-3]=`JobNotInState`,e[e.JobPendingChildren=-4]=`JobPendingChildren`,e[e.ParentJobNotExist=-5]=`ParentJobNotExist`,e[e.JobLockMismatch=-6]=`JobLockMismatch`,e[e.ParentJobCannotBeReplaced=-7]=`ParentJobCannotBeReplaced`,e[e.JobBelongsToJobScheduler=-8]=`JobBelongsToJobScheduler`,e[e.JobHasFailedChildren=-9]=`JobHasFailedChildren`,e[e.SchedulerJobIdCollision=-10]=`SchedulerJobIdCollision`,e[e.SchedulerJobSlotsBusy=-11]=`SchedulerJobSlotsBusy`})(O||={});var k;(function(e){e[e.Completed=0]=`Completed`,e[e.Error=1]=`Error`,e[e.Failed=2]=`Failed`,e[e.InitFailed=3]=`InitFailed`,e[e.InitCompleted=4]=`InitCompleted`,e[e.Log=5]=`Log`,e[e.MoveToDelayed=6]=`MoveToDelayed`,e[e.MoveToWait=7]=`MoveToWait`,e[e.Progress=8]=`Progress`,e[e.Update=9]=`Update`,e[e.GetChildrenValues=10]=`GetChildrenValues`,e[e.GetIgnoredChildrenFailures=11]=`GetIgnoredChildrenFailures`,e[e.GetDependenciesCount=12]=`GetDependenciesCount`,e[e.MoveToWaitingChildren=13]=`MoveToWaitingChildren`,e[e.GetDependencies=14]=`GetDependencies`})(k||={});var A;(function(e){e[e.ONE_MINUTE=1]=`ONE_MINUTE`,e[e.FIVE_MINUTES=5]=`FIVE_MINUTES`,e[e.FIFTEEN_MINUTES=15]=`FIFTEEN_MINUTES`,e[e.THIRTY_MINUTES=30]=`THIRTY_MINUTES`,e[e.ONE_HOUR=60]=`ONE_HOUR`,e[e.ONE_WEEK=10080]=`ONE_WEEK`,e[e.TWO_WEEKS=20160]=`TWO_WEEKS`,e[e.ONE_MONTH=80640]=`ONE_MONTH`})(A||={});var j;(function(e){e.QueueName=`bullmq.queue.name`,e.QueueOperation=`bullmq.queue.operation`,e.BulkCount=`bullmq.job.bulk.count`,e.BulkNames=`bullmq.job.bulk.names`,e.JobName=`bullmq.job.name`,e.JobId=`bullmq.job.id`,e.JobKey=`bullmq.job.key`,e.JobIds=`bullmq.job.ids`,e.JobAttemptsMade=`bullmq.job.attempts.made`,e.DeduplicationKey=`bullmq.job.deduplication.key`,e.JobOptions=`bullmq.job.options`,e.JobProgress=`bullmq.job.progress`,e.QueueDrainDelay=`bullmq.queue.drain.delay`,e.QueueGrace=`bullmq.queue.grace`,e.QueueCleanLimit=`bullmq.queue.clean.limit`,e.QueueCleanCount=`bullmq.queue.clean.count`,e.QueueRateLimit=`bullmq.queue.rate.limit`,e.JobType=`bullmq.job.type`,e.QueueOptions=`bullmq.queue.options`,e.QueueEventMaxLength=`bullmq.queue.event.max.length`,e.QueueJobsState=`bullmq.queue.jobs.state`,e.WorkerOptions=`bullmq.worker.options`,e.WorkerName=`bullmq.worker.name`,e.WorkerId=`bullmq.worker.id`,e.WorkerRateLimit=`bullmq.worker.rate.limit`,e.WorkerDoNotWaitActive=`bullmq.worker.do.not.wait.active`,e.WorkerForceClose=`bullmq.worker.force.close`,e.WorkerStalledJobs=`bullmq.worker.stalled.jobs`,e.WorkerFailedJobs=`bullmq.worker.failed.jobs`,e.WorkerJobsToExtendLocks=`bullmq.worker.jobs.to.extend.locks`,e.JobAttemptFinishedTimestamp=`bullmq.job.attempt_finished_timestamp`,e.JobProcessedTimestamp=`bullmq.job.processed.timestamp`,e.JobResult=`bullmq.job.result`,e.JobFailedReason=`bullmq.job.failed.reason`,e.FlowName=`bullmq.flow.name`,e.JobSchedulerId=`bullmq.job.scheduler.id`,e.JobState=`bullmq.job.state`})(j||={});var M;(function(e){e.QueueJobsCount=`bullmq.queue.jobs`,e.JobsCompleted=`bullmq.jobs.completed`,e.JobsFailed=`bullmq.jobs.failed`,e.JobsDelayed=`bullmq.jobs.delayed`,e.JobsRetried=`bullmq.jobs.retried`,e.JobsWaiting=`bullmq.jobs.waiting`,e.JobsWaitingChildren=`bullmq.jobs.waiting_children`,e.JobDuration=`bullmq.job.duration`})(M||={});var N;(function(e){e[e.INTERNAL=0]=`INTERNAL`,e[e.SERVER=1]=`SERVER`,e[e.CLIENT=2]=`CLIENT`,e[e.PRODUCER=3]=`PRODUCER`,e[e.CONSUMER=4]=`CONSUMER`})(N||={});const te=`Connection is closed.`;var ne=class extends Error{constructor(e,t){super(e??te),this.cause=t,this.name=`ConnectionClosedError`,Object.setPrototypeOf(this,new.target.prototype)}},re=/* @__PURE__ */ r(((e,t)=>{t.exports={MAX_LENGTH:256,MAX_SAFE_COMPONENT_LENGTH:16,MAX_SAFE_BUILD_LENGTH:250,MAX_SAFE_INTEGER:2**53-1||
/* istanbul ignore next */9007199254740991,RELEASE_TYPES:[`major`,`premajor`,`minor`,`preminor`,`patch`,`prepatch`,`prerelease`],SEMVER_SPEC_VERSION:`2.0.0`,FLAG_INCLUDE_PRERELEASE:1,FLAG_LOOSE:2}})),ie=/* @__PURE__ */ r(((e,t)=>{t.exports=typeof process==`object`&&process.env&&process.env.NODE_DEBUG&&/\bsemver\b/i.test(process.env.NODE_DEBUG)?(...e)=>console.error(`SEMVER`,...e):()=>{}})),ae=/* @__PURE__ */ r(((e,t)=>{let{MAX_SAFE_COMPONENT_LENGTH:n,MAX_SAFE_BUILD_LENGTH:r,MAX_LENGTH:i}=re(),a=ie();e=t.exports={};let o=e.re=[],s=e.safeRe=[],c=e.src=[],l=e.safeSrc=[],u=e.t={},d=0,f=`[a-zA-Z0-9-]`,p=[[`\\s`,1],[`\\d`,i],[f,r]],m=e=>{for(let[t,n]of p)e=e.split(`${t}*`).join(`${t}{0,${n}}`).split(`${t}+`).join(`${t}{1,${n}}`);return e},h=(e,t,n)=>{let r=m(t),i=d++;a(e,i,t),u[e]=i,c[i]=t,l[i]=r,o[i]=new RegExp(t,n?`g`:void 0),s[i]=new RegExp(r,n?`g`:void 0)};h(`NUMERICIDENTIFIER`,`0|[1-9]\\d*`),h(`NUMERICIDENTIFIERLOOSE`,`\\d+`),h(`NONNUMERICIDENTIFIER`,`\\d*[a-zA-Z-]${f}*`),h(`MAINVERSION`,`(${c[u.NUMERICIDENTIFIER]})\\.(${c[u.NUMERICIDENTIFIER]})\\.(${c[u.NUMERICIDENTIFIER]})`),h(`MAINVERSIONLOOSE`,`(${c[u.NUMERICIDENTIFIERLOOSE]})\\.(${c[u.NUMERICIDENTIFIERLOOSE]})\\.(${c[u.NUMERICIDENTIFIERLOOSE]})`),h(`PRERELEASEIDENTIFIER`,`(?:${c[u.NONNUMERICIDENTIFIER]}|${c[u.NUMERICIDENTIFIER]})`),h(`PRERELEASEIDENTIFIERLOOSE`,`(?:${c[u.NONNUMERICIDENTIFIER]}|${c[u.NUMERICIDENTIFIERLOOSE]})`),h(`PRERELEASE`,`(?:-(${c[u.PRERELEASEIDENTIFIER]}(?:\\.${c[u.PRERELEASEIDENTIFIER]})*))`),h(`PRERELEASELOOSE`,`(?:-?(${c[u.PRERELEASEIDENTIFIERLOOSE]}(?:\\.${c[u.PRERELEASEIDENTIFIERLOOSE]})*))`),h(`BUILDIDENTIFIER`,`${f}+`),h(`BUILD`,`(?:\\+(${c[u.BUILDIDENTIFIER]}(?:\\.${c[u.BUILDIDENTIFIER]})*))`),h(`FULLPLAIN`,`v?${c[u.MAINVERSION]}${c[u.PRERELEASE]}?${c[u.BUILD]}?`),h(`FULL`,`^${c[u.FULLPLAIN]}$`),h(`LOOSEPLAIN`,`[v=\\s]*${c[u.MAINVERSIONLOOSE]}${c[u.PRERELEASELOOSE]}?${c[u.BUILD]}?`),h(`LOOSE`,`^${c[u.LOOSEPLAIN]}$`),h(`GTLT`,`((?:<|>)?=?)`),h(`XRANGEIDENTIFIERLOOSE`,`${c[u.NUMERICIDENTIFIERLOOSE]}|x|X|\\*`),h(`XRANGEIDENTIFIER`,`${c[u.NUMERICIDENTIFIER]}|x|X|\\*`),h(`XRANGEPLAIN`,`[v=\\s]*(${c[u.XRANGEIDENTIFIER]})(?:\\.(${c[u.XRANGEIDENTIFIER]})(?:\\.(${c[u.XRANGEIDENTIFIER]})(?:${c[u.PRERELEASE]})?${c[u.BUILD]}?)?)?`),h(`XRANGEPLAINLOOSE`,`[v=\\s]*(${c[u.XRANGEIDENTIFIERLOOSE]})(?:\\.(${c[u.XRANGEIDENTIFIERLOOSE]})(?:\\.(${c[u.XRANGEIDENTIFIERLOOSE]})(?:${c[u.PRERELEASELOOSE]})?${c[u.BUILD]}?)?)?`),h(`XRANGE`,`^${c[u.GTLT]}\\s*${c[u.XRANGEPLAIN]}$`),h(`XRANGELOOSE`,`^${c[u.GTLT]}\\s*${c[u.XRANGEPLAINLOOSE]}$`),h(`COERCEPLAIN`,`(^|[^\\d])(\\d{1,${n}})(?:\\.(\\d{1,${n}}))?(?:\\.(\\d{1,${n}}))?`),h(`COERCE`,`${c[u.COERCEPLAIN]}(?:$|[^\\d])`),h(`COERCEFULL`,c[u.COERCEPLAIN]+`(?:${c[u.PRERELEASE]})?(?:${c[u.BUILD]})?(?:$|[^\\d])`),h(`COERCERTL`,c[u.COERCE],!0),h(`COERCERTLFULL`,c[u.COERCEFULL],!0),h(`LONETILDE`,`(?:~>?)`),h(`TILDETRIM`,`(\\s*)${c[u.LONETILDE]}\\s+`,!0),e.tildeTrimReplace=`$1~`,h(`TILDE`,`^${c[u.LONETILDE]}${c[u.XRANGEPLAIN]}$`),h(`TILDELOOSE`,`^${c[u.LONETILDE]}${c[u.XRANGEPLAINLOOSE]}$`),h(`LONECARET`,`(?:\\^)`),h(`CARETTRIM`,`(\\s*)${c[u.LONECARET]}\\s+`,!0),e.caretTrimReplace=`$1^`,h(`CARET`,`^${c[u.LONECARET]}${c[u.XRANGEPLAIN]}$`),h(`CARETLOOSE`,`^${c[u.LONECARET]}${c[u.XRANGEPLAINLOOSE]}$`),h(`COMPARATORLOOSE`,`^${c[u.GTLT]}\\s*(${c[u.LOOSEPLAIN]})$|^$`),h(`COMPARATOR`,`^${c[u.GTLT]}\\s*(${c[u.FULLPLAIN]})$|^$`),h(`COMPARATORTRIM`,`(\\s*)${c[u.GTLT]}\\s*(${c[u.LOOSEPLAIN]}|${c[u.XRANGEPLAIN]})`,!0),e.comparatorTrimReplace=`$1$2$3`,h(`HYPHENRANGE`,`^\\s*(${c[u.XRANGEPLAIN]})\\s+-\\s+(${c[u.XRANGEPLAIN]})\\s*$`),h(`HYPHENRANGELOOSE`,`^\\s*(${c[u.XRANGEPLAINLOOSE]})\\s+-\\s+(${c[u.XRANGEPLAINLOOSE]})\\s*$`),h(`STAR`,`(<|>)?=?\\s*\\*`),h(`GTE0`,`^\\s*>=\\s*0\\.0\\.0\\s*$`),h(`GTE0PRE`,`^\\s*>=\\s*0\\.0\\.0-0\\s*$`)})),oe=/* @__PURE__ */ r(((e,t)=>{let n=Object.freeze({loose:!0}),r=Object.freeze({});t.exports=e=>e?typeof e==`object`?e:n:r})),se=/* @__PURE__ */ r(((e,t)=>{let n=/^[0-9]+$/,r=(e,t)=>{if(typeof e==`number`&&typeof t==`number`)return e===t?0:e<t?-1:1;let r=n.test(e),i=n.test(t);return r&&i&&(e=+e,t=+t),e===t?0:r&&!i?-1:i&&!r?1:e<t?-1:1};t.exports={compareIdentifiers:r,rcompareIdentifiers:(e,t)=>r(t,e)}})),P=/* @__PURE__ */ r(((e,t)=>{let n=ie(),{MAX_LENGTH:r,MAX_SAFE_INTEGER:i}=re(),{safeRe:a,t:o}=ae(),s=oe(),{compareIdentifiers:c}=se(),l=(e,t)=>{let n=t.split(`.`);if(n.length>e.length)return!1;for(let t=0;t<n.length;t++)if(c(e[t],n[t])!==0)return!1;return!0};t.exports=class e{constructor(t,c){if(c=s(c),t instanceof e){if(t.loose===!!c.loose&&t.includePrerelease===!!c.includePrerelease)return t;t=t.version}else if(typeof t!=`string`)throw TypeError(`Invalid version. Must be a string. Got type "${typeof t}".`);if(t.length>r)throw TypeError(`version is longer than ${r} characters`);n(`SemVer`,t,c),this.options=c,this.loose=!!c.loose,this.includePrerelease=!!c.includePrerelease;let l=t.trim().match(c.loose?a[o.LOOSE]:a[o.FULL]);if(!l)throw TypeError(`Invalid Version: ${t}`);if(this.raw=t,this.major=+l[1],this.minor=+l[2],this.patch=+l[3],this.major>i||this.major<0)throw TypeError(`Invalid major version`);if(this.minor>i||this.minor<0)throw TypeError(`Invalid minor version`);if(this.patch>i||this.patch<0)throw TypeError(`Invalid patch version`);this.prerelease=l[4]?l[4].split(`.`).map(e=>{if(/^[0-9]+$/.test(e)){let t=+e;if(t>=0&&t<i)return t}return e}):[],this.build=l[5]?l[5].split(`.`):[],this.format()}format(){return this.version=`${this.major}.${this.minor}.${this.patch}`,this.prerelease.length&&(this.version+=`-${this.prerelease.join(`.`)}`),this.version}toString(){return this.version}compare(t){if(n(`SemVer.compare`,this.version,this.options,t),!(t instanceof e)){if(typeof t==`string`&&t===this.version)return 0;t=new e(t,this.options)}return t.version===this.version?0:this.compareMain(t)||this.comparePre(t)}compareMain(t){return t instanceof e||(t=new e(t,this.options)),this.major<t.major?-1:this.major>t.major?1:this.minor<t.minor?-1:this.minor>t.minor?1:this.patch<t.patch?-1:+(this.patch>t.patch)}comparePre(t){if(t instanceof e||(t=new e(t,this.options)),this.prerelease.length&&!t.prerelease.length)return-1;if(!this.prerelease.length&&t.prerelease.length)return 1;if(!this.prerelease.length&&!t.prerelease.length)return 0;let r=0;do{let e=this.prerelease[r],i=t.prerelease[r];if(n(`prerelease compare`,r,e,i),e===void 0&&i===void 0)return 0;if(i===void 0)return 1;if(e===void 0)return-1;if(e!==i)return c(e,i)}while(++r)}compareBuild(t){t instanceof e||(t=new e(t,this.options));let r=0;do{let e=this.build[r],i=t.build[r];if(n(`build compare`,r,e,i),e===void 0&&i===void 0)return 0;if(i===void 0)return 1;if(e===void 0)return-1;if(e!==i)return c(e,i)}while(++r)}inc(e,t,n){if(e.startsWith(`pre`)){if(!t&&n===!1)throw Error(`invalid increment argument: identifier is empty`);if(t){let e=`-${t}`.match(this.options.loose?a[o.PRERELEASELOOSE]:a[o.PRERELEASE]);if(!e||e[1]!==t)throw Error(`invalid identifier: ${t}`)}}switch(e){case`premajor`:this.prerelease.length=0,this.patch=0,this.minor=0,this.major++,this.inc(`pre`,t,n);break;case`preminor`:this.prerelease.length=0,this.patch=0,this.minor++,this.inc(`pre`,t,n);break;case`prepatch`:this.prerelease.length=0,this.inc(`patch`,t,n),this.inc(`pre`,t,n);break;case`prerelease`:this.prerelease.length===0&&this.inc(`patch`,t,n),this.inc(`pre`,t,n);break;case`release`:if(this.prerelease.length===0)throw Error(`version ${this.raw} is not a prerelease`);this.prerelease.length=0;break;case`major`:(this.minor!==0||this.patch!==0||this.prerelease.length===0)&&this.major++,this.minor=0,this.patch=0,this.prerelease=[];break;case`minor`:(this.patch!==0||this.prerelease.length===0)&&this.minor++,this.patch=0,this.prerelease=[];break;case`patch`:this.prerelease.length===0&&this.patch++,this.prerelease=[];break;case`pre`:{let e=+!!Number(n);if(this.prerelease.length===0)this.prerelease=[e];else{let r=this.prerelease.length;for(;--r>=0;)typeof this.prerelease[r]==`number`&&(this.prerelease[r]++,r=-2);if(r===-1){if(t===this.prerelease.join(`.`)&&n===!1)throw Error(`invalid increment argument: identifier already exists`);this.prerelease.push(e)}}if(t){let r=[t,e];if(n===!1&&(r=[t]),l(this.prerelease,t)){let e=this.prerelease[t.split(`.`).length];isNaN(e)&&(this.prerelease=r)}else this.prerelease=r}break}default:throw Error(`invalid increment argument: ${e}`)}return this.raw=this.format(),this.build.length&&(this.raw+=`+${this.build.join(`.`)}`),this}}})),ce=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t,r=!1)=>{if(e instanceof n)return e;try{return new n(e,t)}catch(e){if(!r)return null;throw e}}})),le=/* @__PURE__ */ r(((e,t)=>{let n=ce();t.exports=(e,t)=>{let r=n(e,t);return r?r.version:null}})),ue=/* @__PURE__ */ r(((e,t)=>{let n=ce();t.exports=(e,t)=>{let r=n(e.trim().replace(/^[=v]+/,``),t);return r?r.version:null}})),de=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t,r,i,a)=>{typeof r==`string`&&(a=i,i=r,r=void 0);try{return new n(e instanceof n?e.version:e,r).inc(t,i,a).version}catch{return null}}})),fe=/* @__PURE__ */ r(((e,t)=>{let n=ce();t.exports=(e,t)=>{let r=n(e,null,!0),i=n(t,null,!0),a=r.compare(i);if(a===0)return null;let o=a>0,s=o?r:i,c=o?i:r,l=!!s.prerelease.length;if(c.prerelease.length&&!l){if(!c.patch&&!c.minor)return`major`;if(c.compareMain(s)===0)return c.minor&&!c.patch?`minor`:`patch`}let u=l?`pre`:``;return r.major===i.major?r.minor===i.minor?r.patch===i.patch?`prerelease`:u+`patch`:u+`minor`:u+`major`}})),pe=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t)=>new n(e,t).major})),me=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t)=>new n(e,t).minor})),he=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t)=>new n(e,t).patch})),ge=/* @__PURE__ */ r(((e,t)=>{let n=ce();t.exports=(e,t)=>{let r=n(e,t);return r&&r.prerelease.length?r.prerelease:null}})),_e=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t,r)=>new n(e,r).compare(new n(t,r))})),ve=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(t,e,r)})),ye=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t)=>n(e,t,!0)})),be=/* @__PURE__ */ r(((e,t)=>{let n=P();t.exports=(e,t,r)=>{let i=new n(e,r),a=new n(t,r);return i.compare(a)||i.compareBuild(a)}})),xe=/* @__PURE__ */ r(((e,t)=>{let n=be();t.exports=(e,t)=>e.sort((e,r)=>n(e,r,t))})),Se=/* @__PURE__ */ r(((e,t)=>{let n=be();t.exports=(e,t)=>e.sort((e,r)=>n(r,e,t))})),Ce=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)>0})),we=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)<0})),Te=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)===0})),Ee=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)!==0})),De=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)>=0})),Oe=/* @__PURE__ */ r(((e,t)=>{let n=_e();t.exports=(e,t,r)=>n(e,t,r)<=0})),ke=/* @__PURE__ */ r(((e,t)=>{let n=Te(),r=Ee(),i=Ce(),a=De(),o=we(),s=Oe();t.exports=(e,t,c,l)=>{switch(t){case`===`:return typeof e==`object`&&(e=e.version),typeof c==`object`&&(c=c.version),e===c;case`!==`:return typeof e==`object`&&(e=e.version),typeof c==`object`&&(c=c.version),e!==c;case``:case`=`:case`==`:return n(e,c,l);case`!=`:return r(e,c,l);case`>`:return i(e,c,l);case`>=`:return a(e,c,l);case`<`:return o(e,c,l);case`<=`:return s(e,c,l);default:throw TypeError(`Invalid operator: ${t}`)}}})),Ae=/* @__PURE__ */ r(((e,t)=>{let n=P(),r=ce(),{safeRe:i,t:a}=ae();t.exports=(e,t)=>{if(e instanceof n)return e;if(typeof e==`number`&&(e=String(e)),typeof e!=`string`)return null;t||={};let o=null;if(!t.rtl)o=e.match(t.includePrerelease?i[a.COERCEFULL]:i[a.COERCE]);else{let n=t.includePrerelease?i[a.COERCERTLFULL]:i[a.COERCERTL],r;for(;(r=n.exec(e))&&(!o||o.index+o[0].length!==e.length);)o&&r.index+r[0].length===o.index+o[0].length||(o=r),n.lastIndex=r.index+r[1].length+r[2].length;n.lastIndex=-1}if(o===null)return null;let s=o[2],c=o[3]||`0`,l=o[4]||`0`,u=t.includePrerelease&&o[5]?`-${o[5]}`:``,d=t.includePrerelease&&o[6]?`+${o[6]}`:``;return r(`${s}.${c}.${l}${u}${d}`,t)}})),je=/* @__PURE__ */ r(((e,t)=>{let n=ce(),r=re(),i=P(),a=(e,t,n)=>{if(!r.RELEASE_TYPES.includes(t))return null;let i=o(e,n);return i&&s(i,t)},o=(e,t)=>{let r=e instanceof i?e.version:e;return n(r,t)},s=(e,t)=>{if(c(t))return e.version;switch(e.prerelease=[],t){case`major`:e.minor=0,e.patch=0;break;case`minor`:e.patch=0}return e.format()},c=e=>e.startsWith(`pre`);t.exports=a})),Me=/* @__PURE__ */ r(((e,t)=>{t.exports=class{constructor(){this.max=1e3,this.map=/* @__PURE__ */ new Map}get(e){let t=this.map.get(e);if(t!==void 0)return this.map.delete(e),this.map.set(e,t),t}delete(e){return this.map.delete(e)}set(e,t){if(!this.delete(e)&&t!==void 0){if(this.map.size>=this.max){let e=this.map.keys().next().value;this.delete(e)}this.map.set(e,t)}return this}}})),Ne=/* @__PURE__ */ r(((e,t)=>{let n=/\s+/g;t.exports=class e{constructor(t,r){if(r=i(r),t instanceof e)return t.loose===!!r.loose&&t.includePrerelease===!!r.includePrerelease?t:new e(t.raw,r);if(t instanceof a)return this.raw=t.value,this.set=[[t]],this.formatted=void 0,this;if(this.options=r,this.loose=!!r.loose,this.includePrerelease=!!r.includePrerelease,this.raw=t.trim().replace(n,` `),this.set=this.raw.split(`||`).map(e=>this.parseRange(e.trim())).filter(e=>e.length),!this.set.length)throw TypeError(`Invalid SemVer Range: ${this.raw}`);if(this.set.length>1){let e=this.set[0];if(this.set=this.set.filter(e=>!_(e[0])),this.set.length===0)this.set=[e];else if(this.set.length>1){for(let e of this.set)if(e.length===1&&v(e[0])){this.set=[e];break}}}this.formatted=void 0}get range(){if(this.formatted===void 0){this.formatted=``;for(let e=0;e<this.set.length;e++){e>0&&(this.formatted+=`||`);let t=this.set[e];for(let e=0;e<t.length;e++)e>0&&(this.formatted+=` `),this.formatted+=t[e].toString().trim()}}return this.formatted}format(){return this.range}toString(){return this.range}parseRange(e){e=e.replace(g,``);let t=((this.options.includePrerelease&&m)|(this.options.loose&&h))+`:`+e,n=r.get(t);if(n)return n;let i=this.options.loose,s=i?c[u.HYPHENRANGELOOSE]:c[u.HYPHENRANGE];e=e.replace(s,A(this.options.includePrerelease)),o(`hyphen replace`,e),e=e.replace(c[u.COMPARATORTRIM],d),o(`comparator trim`,e),e=e.replace(c[u.TILDETRIM],f),o(`tilde trim`,e),e=e.replace(c[u.CARETTRIM],p),o(`caret trim`,e);let l=e.split(` `).map(e=>b(e,this.options)).join(` `).split(/\s+/).map(e=>k(e,this.options));i&&(l=l.filter(e=>(o(`loose invalid filter`,e,this.options),!!e.match(c[u.COMPARATORLOOSE])))),o(`range list`,l);let v=/* @__PURE__ */ new Map,y=l.map(e=>new a(e,this.options));for(let e of y){if(_(e))return[e];v.set(e.value,e)}v.size>1&&v.has(``)&&v.delete(``);let x=[...v.values()];return r.set(t,x),x}intersects(t,n){if(!(t instanceof e))throw TypeError(`a Range is required`);return this.set.some(e=>y(e,n)&&t.set.some(t=>y(t,n)&&e.every(e=>t.every(t=>e.intersects(t,n)))))}test(e){if(!e)return!1;if(typeof e==`string`)try{e=new s(e,this.options)}catch{return!1}for(let t=0;t<this.set.length;t++)if(j(this.set[t],e,this.options))return!0;return!1}};let r=new(Me()),i=oe(),a=Pe(),o=ie(),s=P(),{safeRe:c,src:l,t:u,comparatorTrimReplace:d,tildeTrimReplace:f,caretTrimReplace:p}=ae(),{FLAG_INCLUDE_PRERELEASE:m,FLAG_LOOSE:h}=re(),g=new RegExp(l[u.BUILD],`g`),_=e=>e.value===`<0.0.0-0`,v=e=>e.value===``,y=(e,t)=>{let n=!0,r=e.slice(),i=r.pop();for(;n&&r.length;)n=r.every(e=>i.intersects(e,t)),i=r.pop();return n},b=(e,t)=>(e=e.replace(c[u.BUILD],``),o(`comp`,e,t),e=ee(e,t),o(`caret`,e),e=C(e,t),o(`tildes`,e),e=E(e,t),o(`xrange`,e),e=O(e,t),o(`stars`,e),e),x=e=>!e||e.toLowerCase()===`x`||e===`*`,S=(e,t,n)=>x(e)&&!x(t)||x(t)&&n&&!x(n),C=(e,t)=>e.trim().split(/\s+/).map(e=>w(e,t)).join(` `),w=(e,t)=>{let n=t.loose?c[u.TILDELOOSE]:c[u.TILDE],r=t.includePrerelease?`-0`:``;return e.replace(n,(t,n,i,a,s)=>{o(`tilde`,e,t,n,i,a,s);let c;return x(n)?c=``:x(i)?c=`>=${n}.0.0${r} <${+n+1}.0.0-0`:x(a)?c=`>=${n}.${i}.0${r} <${n}.${+i+1}.0-0`:s?(o(`replaceTilde pr`,s),c=`>=${n}.${i}.${a}-${s} <${n}.${+i+1}.0-0`):c=`>=${n}.${i}.${a} <${n}.${+i+1}.0-0`,o(`tilde return`,c),c})},ee=(e,t)=>e.trim().split(/\s+/).map(e=>T(e,t)).join(` `),T=(e,t)=>{o(`caret`,e,t);let n=t.loose?c[u.CARETLOOSE]:c[u.CARET],r=t.includePrerelease?`-0`:``;return e.replace(n,(t,n,i,a,s)=>{o(`caret`,e,t,n,i,a,s);let c;return x(n)?c=``:x(i)?c=`>=${n}.0.0${r} <${+n+1}.0.0-0`:x(a)?c=n===`0`?`>=${n}.${i}.0${r} <${n}.${+i+1}.0-0`:`>=${n}.${i}.0${r} <${+n+1}.0.0-0`:s?(o(`replaceCaret pr`,s),c=n===`0`?i===`0`?`>=${n}.${i}.${a}-${s} <${n}.${i}.${+a+1}-0`:`>=${n}.${i}.${a}-${s} <${n}.${+i+1}.0-0`:`>=${n}.${i}.${a}-${s} <${+n+1}.0.0-0`):(o(`no pr`),c=n===`0`?i===`0`?`>=${n}.${i}.${a} <${n}.${i}.${+a+1}-0`:`>=${n}.${i}.${a} <${n}.${+i+1}.0-0`:`>=${n}.${i}.${a} <${+n+1}.0.0-0`),o(`caret return`,c),c})},E=(e,t)=>(o(`replaceXRanges`,e,t),e.split(/\s+/).map(e=>D(e,t)).join(` `)),D=(e,t)=>{e=e.trim();let n=t.loose?c[u.XRANGELOOSE]:c[u.XRANGE];return e.replace(n,(n,r,i,a,s,c)=>{if(o(`xRange`,e,n,r,i,a,s,c),S(i,a,s))return e;let l=x(i),u=l||x(a),d=u||x(s),f=d;return r===`=`&&f&&(r=``),c=t.includePrerelease?`-0`:``,l?n=r===`>`||r===`<`?`<0.0.0-0`:`*`:r&&f?(u&&(a=0),s=0,r===`>`?(r=`>=`,u?(i=+i+1,a=0,s=0):(a=+a+1,s=0)):r===`<=`&&(r=`<`,u?i=+i+1:a=+a+1),r===`<`&&(c=`-0`),n=`${r+i}.${a}.${s}${c}`):u?n=`>=${i}.0.0${c} <${+i+1}.0.0-0`:d&&(n=`>=${i}.${a}.0${c} <${i}.${+a+1}.0-0`),o(`xRange return`,n),n})},O=(e,t)=>(o(`replaceStars`,e,t),e.trim().replace(c[u.STAR],``)),k=(e,t)=>(o(`replaceGTE0`,e,t),e.trim().replace(c[t.includePrerelease?u.GTE0PRE:u.GTE0],``)),A=e=>(t,n,r,i,a,o,s,c,l,u,d,f)=>(n=x(r)?``:x(i)?`>=${r}.0.0${e?`-0`:``}`:x(a)?`>=${r}.${i}.0${e?`-0`:``}`:o?`>=${n}`:`>=${n}${e?`-0`:``}`,c=x(l)?``:x(u)?`<${+l+1}.0.0-0`:x(d)?`<${l}.${+u+1}.0-0`:f?`<=${l}.${u}.${d}-${f}`:e?`<${l}.${u}.${+d+1}-0`:`<=${c}`,`${n} ${c}`.trim()),j=(e,t,n)=>{for(let n=0;n<e.length;n++)if(!e[n].test(t))return!1;if(t.prerelease.length&&!n.includePrerelease){for(let n=0;n<e.length;n++)if(o(e[n].semver),e[n].semver!==a.ANY&&e[n].semver.prerelease.length>0){let r=e[n].semver;if(r.major===t.major&&r.minor===t.minor&&r.patch===t.patch)return!0}return!1}return!0}})),Pe=/* @__PURE__ */ r(((e,t)=>{let n=Symbol(`SemVer ANY`);t.exports=class e{static get ANY(){return n}constructor(t,i){if(i=r(i),t instanceof e){if(t.loose===!!i.loose)return t;t=t.value}t=t.trim().split(/\s+/).join(` `),s(`comparator`,t,i),this.options=i,this.loose=!!i.loose,this.parse(t),this.value=this.semver===n?``:this.operator+this.semver.version,s(`comp`,this)}parse(e){let t=this.options.loose?i[a.COMPARATORLOOSE]:i[a.COMPARATOR],r=e.match(t);if(!r)throw TypeError(`Invalid comparator: ${e}`);this.operator=r[1]===void 0?``:r[1],this.operator===`=`&&(this.operator=``),this.semver=r[2]?new c(r[2],this.options.loose):n}toString(){return this.value}test(e){if(s(`Comparator.test`,e,this.options.loose),this.semver===n||e===n)return!0;if(typeof e==`string`)try{e=new c(e,this.options)}catch{return!1}return o(e,this.operator,this.semver,this.options)}intersects(t,n){if(!(t instanceof e))throw TypeError(`a Comparator is required`);return this.operator===``?this.value===``||new l(t.value,n).test(this.value):t.operator===``?t.value===``||new l(this.value,n).test(t.semver):(n=r(n),n.includePrerelease&&(this.value===`<0.0.0-0`||t.value===`<0.0.0-0`)||!n.includePrerelease&&(this.value.startsWith(`<0.0.0`)||t.value.startsWith(`<0.0.0`))?!1:!!(this.operator.startsWith(`>`)&&t.operator.startsWith(`>`)||this.operator.startsWith(`<`)&&t.operator.startsWith(`<`)||this.semver.version===t.semver.version&&this.operator.includes(`=`)&&t.operator.includes(`=`)||o(this.semver,`<`,t.semver,n)&&this.operator.startsWith(`>`)&&t.operator.startsWith(`<`)||o(this.semver,`>`,t.semver,n)&&this.operator.startsWith(`<`)&&t.operator.startsWith(`>`)))}};let r=oe(),{safeRe:i,t:a}=ae(),o=ke(),s=ie(),c=P(),l=Ne()})),Fe=/* @__PURE__ */ r(((e,t)=>{let n=Ne();t.exports=(e,t,r)=>{try{t=new n(t,r)}catch{return!1}return t.test(e)}})),Ie=/* @__PURE__ */ r(((e,t)=>{let n=Ne();t.exports=(e,t)=>new n(e,t).set.map(e=>e.map(e=>e.value).join(` `).trim().split(` `))})),Le=/* @__PURE__ */ r(((e,t)=>{let n=P(),r=Ne();t.exports=(e,t,i)=>{let a=null,o=null,s=null;try{s=new r(t,i)}catch{return null}return e.forEach(e=>{s.test(e)&&(a&&o.compare(e)!==-1||(a=e,o=new n(a,i)))}),a}})),Re=/* @__PURE__ */ r(((e,t)=>{let n=P(),r=Ne();t.exports=(e,t,i)=>{let a=null,o=null,s=null;try{s=new r(t,i)}catch{return null}return e.forEach(e=>{s.test(e)&&(a&&o.compare(e)!==1||(a=e,o=new n(a,i)))}),a}})),ze=/* @__PURE__ */ r(((e,t)=>{let n=P(),r=Ne(),i=Ce();t.exports=(e,t)=>{e=new r(e,t);let a=new n(`0.0.0`);if(e.test(a)||(a=new n(`0.0.0-0`),e.test(a)))return a;a=null;for(let t=0;t<e.set.length;++t){let r=e.set[t],o=null;r.forEach(e=>{let t=new n(e.semver.version);switch(e.operator){case`>`:t.prerelease.length===0?t.patch++:t.prerelease.push(0),t.raw=t.format();case``:case`>=`:(!o||i(t,o))&&(o=t);break;case`<`:case`<=`:break;
/* istanbul ignore next */
default:throw Error(`Unexpected operation: ${e.operator}`)}}),o&&(!a||i(a,o))&&(a=o)}return a&&e.test(a)?a:null}})),Be=/* @__PURE__ */ r(((e,t)=>{let n=Ne();t.exports=(e,t)=>{try{return new n(e,t).range||`*`}catch{return null}}})),Ve=/* @__PURE__ */ r(((e,t)=>{let n=P(),r=Pe(),{ANY:i}=r,a=Ne(),o=Fe(),s=Ce(),c=we(),l=Oe(),u=De();t.exports=(e,t,d,f)=>{e=new n(e,f),t=new a(t,f);let p,m,h,g,_;switch(d){case`>`:p=s,m=l,h=c,g=`>`,_=`>=`;break;case`<`:p=c,m=u,h=s,g=`<`,_=`<=`;break;default:throw TypeError(`Must provide a hilo val of "<" or ">"`)}if(o(e,t,f))return!1;for(let n=0;n<t.set.length;++n){let a=t.set[n],o=null,s=null;if(a.forEach(e=>{e.semver===i&&(e=new r(`>=0.0.0`)),o||=e,s||=e,p(e.semver,o.semver,f)?o=e:h(e.semver,s.semver,f)&&(s=e)}),o.operator===g||o.operator===_||(!s.operator||s.operator===g)&&m(e,s.semver)||s.operator===_&&h(e,s.semver))return!1}return!0}})),He=/* @__PURE__ */ r(((e,t)=>{let n=Ve();t.exports=(e,t,r)=>n(e,t,`>`,r)})),Ue=/* @__PURE__ */ r(((e,t)=>{let n=Ve();t.exports=(e,t,r)=>n(e,t,`<`,r)})),We=/* @__PURE__ */ r(((e,t)=>{let n=Ne();t.exports=(e,t,r)=>(e=new n(e,r),t=new n(t,r),e.intersects(t,r))})),Ge=/* @__PURE__ */ r(((e,t)=>{let n=Fe(),r=_e();t.exports=(e,t,i)=>{let a=[],o=null,s=null,c=e.sort((e,t)=>r(e,t,i));for(let e of c)n(e,t,i)?(s=e,o||=e):(s&&a.push([o,s]),s=null,o=null);o&&a.push([o,null]);let l=[];for(let[e,t]of a)e===t?l.push(e):!t&&e===c[0]?l.push(`*`):t?e===c[0]?l.push(`<=${t}`):l.push(`${e} - ${t}`):l.push(`>=${e}`);let u=l.join(` || `),d=typeof t.raw==`string`?t.raw:String(t);return u.length<d.length?u:t}})),Ke=/* @__PURE__ */ r(((e,t)=>{let n=Ne(),r=Pe(),{ANY:i}=r,a=Fe(),o=_e(),s=(e,t,r={})=>{if(e===t)return!0;e=new n(e,r),t=new n(t,r);let i=!1;OUTER:for(let n of e.set){for(let e of t.set){let t=u(n,e,r);if(i||=t!==null,t)continue OUTER}if(i)return!1}return!0},c=[new r(`>=0.0.0-0`)],l=[new r(`>=0.0.0`)],u=(e,t,n)=>{if(e===t)return!0;if(e.length===1&&e[0].semver===i){if(t.length===1&&t[0].semver===i)return!0;e=n.includePrerelease?c:l}if(t.length===1&&t[0].semver===i){if(n.includePrerelease)return!0;t=l}let r=/* @__PURE__ */ new Set,s,u;for(let t of e)t.operator===`>`||t.operator===`>=`?s=d(s,t,n):t.operator===`<`||t.operator===`<=`?u=f(u,t,n):r.add(t.semver);if(r.size>1)return null;let p;if(s&&u&&(p=o(s.semver,u.semver,n),p>0||p===0&&(s.operator!==`>=`||u.operator!==`<=`)))return null;for(let e of r){if(s&&!a(e,String(s),n)||u&&!a(e,String(u),n))return null;for(let r of t)if(!a(e,String(r),n))return!1;return!0}let m,h,g,_,v=u&&!n.includePrerelease&&u.semver.prerelease.length?u.semver:!1,y=s&&!n.includePrerelease&&s.semver.prerelease.length?s.semver:!1;v&&v.prerelease.length===1&&u.operator===`<`&&v.prerelease[0]===0&&(v=!1);for(let e of t){if(_=_||e.operator===`>`||e.operator===`>=`,g=g||e.operator===`<`||e.operator===`<=`,s){if(y&&e.semver.prerelease&&e.semver.prerelease.length&&e.semver.major===y.major&&e.semver.minor===y.minor&&e.semver.patch===y.patch&&(y=!1),e.operator===`>`||e.operator===`>=`){if(m=d(s,e,n),m===e&&m!==s)return!1}else if(s.operator===`>=`&&!e.test(s.semver))return!1}if(u){if(v&&e.semver.prerelease&&e.semver.prerelease.length&&e.semver.major===v.major&&e.semver.minor===v.minor&&e.semver.patch===v.patch&&(v=!1),e.operator===`<`||e.operator===`<=`){if(h=f(u,e,n),h===e&&h!==u)return!1}else if(u.operator===`<=`&&!e.test(u.semver))return!1}if(!e.operator&&(u||s)&&p!==0)return!1}return!(s&&g&&!u&&p!==0||u&&_&&!s&&p!==0||y||v)},d=(e,t,n)=>{if(!e)return t;let r=o(e.semver,t.semver,n);return r>0?e:r<0||t.operator===`>`&&e.operator===`>=`?t:e},f=(e,t,n)=>{if(!e)return t;let r=o(e.semver,t.semver,n);return r<0?e:r>0||t.operator===`<`&&e.operator===`<=`?t:e};t.exports=s})),qe=/* @__PURE__ */ t((/* @__PURE__ */ r(((e,t)=>{let n=ae(),r=re(),i=P(),a=se();t.exports={parse:ce(),valid:le(),clean:ue(),inc:de(),diff:fe(),major:pe(),minor:me(),patch:he(),prerelease:ge(),compare:_e(),rcompare:ve(),compareLoose:ye(),compareBuild:be(),sort:xe(),rsort:Se(),gt:Ce(),lt:we(),eq:Te(),neq:Ee(),gte:De(),lte:Oe(),cmp:ke(),coerce:Ae(),truncate:je(),Comparator:Pe(),Range:Ne(),satisfies:Fe(),toComparators:Ie(),maxSatisfying:Le(),minSatisfying:Re(),minVersion:ze(),validRange:Be(),outside:Ve(),gtr:He(),ltr:Ue(),intersects:We(),simplifyRange:Ge(),subset:Ke(),SemVer:i,re:n.re,src:n.src,tokens:n.t,SEMVER_SPEC_VERSION:r.SEMVER_SPEC_VERSION,RELEASE_TYPES:r.RELEASE_TYPES,compareIdentifiers:a.compareIdentifiers,rcompareIdentifiers:a.rcompareIdentifiers}})))());const Je={value:null};function Ye(e,t,n){try{return e.apply(t,n)}catch(e){return Je.value=e,Je}}function Xe(e){return Buffer.byteLength(e,`utf8`)}function Ze(e){for(let t in e)if(Object.prototype.hasOwnProperty.call(e,t))return!1;return!0}function Qe(e){let t={};for(let n=0;n<e.length;n+=2)t[e[n]]=e[n+1];return t}function $e(e){let t=[];for(let n in e)Object.prototype.hasOwnProperty.call(e,n)&&e[n]!==void 0&&(t[t.length]=n,t[t.length]=e[n]);return t}function et(e,t){return new Promise(n=>{let r,i=()=>{t?.signal.removeEventListener(`abort`,i),clearTimeout(r),n()};r=setTimeout(i,e),t?.signal.addEventListener(`abort`,i)})}function tt(e,t){let n=e.getMaxListeners();e.setMaxListeners(n+t)}function nt(e){return Object.entries(e).reduce((e,[t,n])=>(e[n]=t,e),{})}const rt={de:`deduplication`,fpof:`failParentOnFailure`,cpof:`continueParentOnFailure`,idof:`ignoreDependencyOnFailure`,kl:`keepLogs`,rdof:`removeDependencyOnFailure`},it=Object.assign({},nt(rt));function at(e){return e?[`connect`,`disconnect`,`duplicate`].every(t=>typeof e[t]==`function`):!1}function ot(e){return at(e)&&!!e.isCluster}function st(e,t){tt(e,-t)}function ct(e){if(e)return`${e.queue}:${e.id}`}const lt=/ERR unknown command ['`]\s*client\s*['`]/;function ut(e){if(e instanceof ne)return!1;let{code:t,message:n}=e;return n!==`Connection is closed.`&&!n.includes(`ECONNREFUSED`)&&t!==`ECONNREFUSED`}const dt=(e,t,n,r=`redis`)=>{if(n===r){let n=qe.valid(qe.coerce(e));return qe.lt(n,t)}return!1},ft=e=>{let t={};for(let n of Object.entries(e))t[n[0]]=JSON.parse(n[1]);return t};function pt(e){let t={};for(let n in e)e[n]!==void 0&&(t[n]=e[n]);return t}async function mt(e,t,n,r,i,a,o){if(e){let{tracer:s,contextManager:c}=e,l=c.active(),u;o&&(u=c.fromMetadata(l,o));let d=i?`${r} ${i}`:r,f=s.startSpan(d,{kind:t},u);try{f.setAttributes({[j.QueueName]:n,[j.QueueOperation]:r});let e,i;return e=t===N.CONSUMER&&u?f.setSpanOnContext(u):f.setSpanOnContext(l),a.length==2&&(i=c.getMetadata(e)),await c.with(e,()=>a(f,i))}catch(e){throw f.recordException(e),e}finally{f.end()}}return a()}function ht(e,t){let n=e?.contextManager;return!n||typeof n.root!=`function`?t():n.with(n.root(),t)}var gt;(function(e){e[e.Idle=0]=`Idle`,e[e.Started=1]=`Started`,e[e.Terminating=2]=`Terminating`,e[e.Errored=3]=`Errored`})(gt||={});var _t=class extends Error{constructor(e=`bullmq:movedToDelayed`){super(e),this.name=this.constructor.name,Object.setPrototypeOf(this,new.target.prototype)}},vt=class extends Error{constructor(e=`bullmq:rateLimitExceeded`){super(e),this.name=this.constructor.name,Object.setPrototypeOf(this,new.target.prototype)}},yt=class extends Error{constructor(e=`bullmq:unrecoverable`){super(e),this.name=this.constructor.name,Object.setPrototypeOf(this,new.target.prototype)}},bt=class extends Error{constructor(e=`bullmq:movedToWaitingChildren`){super(e),this.name=this.constructor.name,Object.setPrototypeOf(this,new.target.prototype)}},xt=class extends Error{constructor(e=`bullmq:movedToWait`){super(e),this.name=this.constructor.name,Object.setPrototypeOf(this,new.target.prototype)}},St;try{St=new TextDecoder}catch{}var F,I,L=0;const Ct=[],wt=[];var Tt=Ct,Et=0,R={},z,Dt,B=0,V=0,H,Ot,U=[],W,kt,At={useRecords:!1,mapsAsObjects:!0},jt=class{};const Mt=new jt;Mt.name=`MessagePack 0xC1`;var Nt=!1,Pt=2,Ft=class e{constructor(e){e&&(e.useRecords===!1&&e.mapsAsObjects===void 0&&(e.mapsAsObjects=!0),e.sequential&&e.trusted!==!1&&(e.trusted=!0,!e.structures&&e.useRecords!=0&&(e.structures=[],e.maxSharedStructures||=0)),e.structures?e.structures.sharedLength=e.structures.length:e.getStructures&&((e.structures=[]).uninitialized=!0,e.structures.sharedLength=0),e.int64AsNumber&&(e.int64AsType=`number`)),Object.assign(this,e)}unpack(t,n){if(F)return pn(()=>{mn();try{return this?this.unpack(t,n):e.prototype.unpack.call(At,t,n)}catch(e){throw e&&typeof e==`object`&&It.add(e),e}});!t.buffer&&t.constructor===ArrayBuffer&&(t=typeof Buffer<`u`?Buffer.from(t):new Uint8Array(t)),typeof n==`object`?(I=n.end||t.length,L=n.start||0):(L=0,I=n>-1?n:t.length),I>t.length&&(I=t.length),Et=0,V=0,Dt=null,Tt=Ct,H=null,F=t;try{W=t.dataView||(t.dataView=new DataView(t.buffer,t.byteOffset,t.byteLength))}catch(e){throw F=null,t instanceof Uint8Array?e:Error(`Source must be a Uint8Array or Buffer but was a `+(t&&typeof t==`object`?t.constructor.name:typeof t))}if(this instanceof e){if(R=this,this.structures)return z=this.structures,Lt(n);(!z||z.length>0)&&(z=[])}else R=At,(!z||z.length>0)&&(z=[]);return Lt(n)}unpackMultiple(e,t){let n,r=0;try{Nt=!0;let i=e.length,a=this?this.unpack(e,i):gn.unpack(e,i);if(t){if(t(a,r,L)===!1)return;for(;L<i;)if(r=L,t(Lt(),r,L)===!1)return}else{for(n=[a];L<i;)r=L,n.push(Lt());return n}}catch(e){throw e.lastPosition=r,e.values=n,e}finally{Nt=!1,mn()}}_mergeStructures(e,t){this._onLoadedStructures&&(e=this._onLoadedStructures(e)),e||=[],Object.isFrozen(e)&&(e=e.map(e=>e.slice(0)));for(let t=0,n=e.length;t<n;t++){let n=e[t];n&&(n.isShared=!0,t>=32&&(n.highByte=t-32>>5))}e.sharedLength=e.length;for(let n in t||[])if(n>=0){let r=e[n],i=t[n];i&&(r&&((e.restoreStructures||(e.restoreStructures=[]))[n]=r),e[n]=i)}return this.structures=e}decode(e,t){return this.unpack(e,t)}};const It=/* @__PURE__ */ new WeakSet;function Lt(e){try{if(!R.trusted&&!Nt){let e=z.sharedLength||0;e<z.length&&(z.length=e)}let t;if(kt=I-L,R._readStruct&&F[L]<64&&F[L]>=32?(t=R._readStruct(F,L,I),F=null,!(e&&e.lazy)&&t&&(t=t.toJSON()),L=I):t=G(),H&&=(L=H.postBundlePosition,null),Nt&&(z.restoreStructures=null),L==I)z&&z.restoreStructures&&zt(),z=null,F=null,Ot&&=null;else if(L>I)throw Error(`Unexpected end of MessagePack data`);else if(!Nt){let e;try{e=JSON.stringify(t,(e,t)=>typeof t==`bigint`?`${t}n`:t).slice(0,100)}catch(t){e=`(JSON view not available `+t+`)`}throw Error(`Data read, but end of buffer not reached `+e)}return t}catch(e){throw z&&z.restoreStructures&&zt(),mn(),Rt(e),e}}function Rt(e){e&&typeof e==`object`&&(L>I?e.incomplete=!0:It.has(e)?e.incomplete&&=!1:(e instanceof RangeError&&L+8>I||typeof e.message==`string`&&e.message.startsWith(`Unexpected end of buffer`))&&(e.incomplete=!0))}function zt(){for(let e in z.restoreStructures)z[e]=z.restoreStructures[e];z.restoreStructures=null}function G(){let e=F[L++];if(e<160){if(e<128){if(e<64)return e;{let t=z[e&63]||R.getStructures&&Ut()[e&63];return t?(t.read||=Vt(t,e&63),t.read()):e}}if(e<144){if(e-=128,R.mapsAsObjects){let t={};for(let n=0;n<e;n++){let e=on();e===`__proto__`&&(e=`__proto_`),t[e]=G()}return t}{let t=/* @__PURE__ */ new Map;for(let n=0;n<e;n++)t.set(G(),G());return t}}{e-=144;let t=Array(e);for(let n=0;n<e;n++)t[n]=G();return R.freezeData?Object.freeze(t):t}}if(e<192){let t=e-160;if(V>=L)return Dt.slice(L-B,(L+=t)-B);if(V==0&&I<140){let e=t<16?en(t):$t(t);if(e!=null)return e}return Wt(t)}{let t;switch(e){case 192:return null;case 193:return H?(t=G(),t>0?H[1].slice(H.position1,H.position1+=t):H[0].slice(H.position0,H.position0-=t)):Mt;case 194:return!1;case 195:return!0;case 196:if(t=F[L++],t===void 0)throw Error(`Unexpected end of buffer`);return nn(t);case 197:if(t=W.getUint16(L),L+=2,t>I-L)throw Xt(L+t);return nn(t);case 198:if(t=W.getUint32(L),L+=4,t>I-L)throw Xt(L+t);return nn(t);case 199:return rn(F[L++]);case 200:return t=W.getUint16(L),L+=2,rn(t);case 201:return t=W.getUint32(L),L+=4,rn(t);case 202:if(t=W.getFloat32(L),R.useFloat32>2){let e=hn[(F[L]&127)<<1|F[L+1]>>7];return L+=4,(e*t+(t>0?.5:-.5)|0)/e}return L+=4,t;case 203:return t=W.getFloat64(L),L+=8,t;case 204:return F[L++];case 205:return t=W.getUint16(L),L+=2,t;case 206:return t=W.getUint32(L),L+=4,t;case 207:return R.int64AsType===`number`?(t=W.getUint32(L)*4294967296,t+=W.getUint32(L+4)):R.int64AsType===`string`?t=W.getBigUint64(L).toString():R.int64AsType===`auto`?(t=W.getBigUint64(L),t<=BigInt(2)<<BigInt(52)&&(t=Number(t))):t=W.getBigUint64(L),L+=8,t;case 208:return W.getInt8(L++);case 209:return t=W.getInt16(L),L+=2,t;case 210:return t=W.getInt32(L),L+=4,t;case 211:return R.int64AsType===`number`?(t=W.getInt32(L)*4294967296,t+=W.getUint32(L+4)):R.int64AsType===`string`?t=W.getBigInt64(L).toString():R.int64AsType===`auto`?(t=W.getBigInt64(L),t>=BigInt(-2)<<BigInt(52)&&t<=BigInt(2)<<BigInt(52)&&(t=Number(t))):t=W.getBigInt64(L),L+=8,t;case 212:if(t=F[L++],t==114)return cn(F[L++]&63);{let e=U[t];if(e){if(e.read)return L++,e.read(G());if(e.noBuffer)return L++,e();if(L>=I)throw Xt();return e(F.subarray(L,++L))}throw Error(`Unknown extension `+t)}case 213:return t=F[L],t==114?(L++,cn(F[L++]&63,F[L++])):rn(2);case 214:return rn(4);case 215:return rn(8);case 216:return rn(16);case 217:return t=F[L++],V>=L?Dt.slice(L-B,(L+=t)-B):Gt(t);case 218:if(t=W.getUint16(L),L+=2,t>I-L)throw Xt(L+t);return V>=L?Dt.slice(L-B,(L+=t)-B):Kt(t);case 219:if(t=W.getUint32(L),L+=4,t>I-L)throw Xt(L+t);return V>=L?Dt.slice(L-B,(L+=t)-B):qt(t);case 220:return t=W.getUint16(L),L+=2,Zt(t);case 221:return t=W.getUint32(L),L+=4,Zt(t);case 222:return t=W.getUint16(L),L+=2,Qt(t);case 223:return t=W.getUint32(L),L+=4,Qt(t);default:if(e>=224)return e-256;throw e===void 0?Xt():Error(`Unknown MessagePack token `+e)}}}const Bt=/^[a-zA-Z_$][a-zA-Z\d_$]*$/;function Vt(e,t){function n(){if(n.count++>Pt){let r;try{r=e.read=Function(`r`,`return function(){return `+(R.freezeData?`Object.freeze`:``)+`({`+e.map(e=>e===`__proto__`?`__proto_:r()`:Bt.test(e)?e+`:r()`:`[`+JSON.stringify(e)+`]:r()`).join(`,`)+`})}`)(G)}catch{return Pt=1/0,n()}return e.read0=r,e.highByte===0&&(e.read=Ht(t,e.read)),r()}let r={};for(let t=0,n=e.length;t<n;t++){let n=e[t];n===`__proto__`&&(n=`__proto_`),r[n]=G()}return R.freezeData?Object.freeze(r):r}return n.count=0,e.read0=n,e.highByte===0?Ht(t,n):n}const Ht=(e,t)=>function(){let n=F[L++];if(n===0)return t();let r=e<32?-(e+(n<<5)):e+(n<<5),i=z[r]||Ut()[r];if(!i)throw Error(`Record id is not defined for `+r);return i.read||=Vt(i,e),i.read()};function Ut(){let e=pn(()=>(F=null,R.getStructures()));return z=R._mergeStructures(e,z)}var Wt=Yt,Gt=Yt,Kt=Yt,qt=Yt;function Jt(e){Wt=n(1),Gt=n(2),Kt=n(3),qt=n(5);function t(t,n,r){try{return e(t,n,r)}catch{return wt}}function n(e){return function(n){let r=Tt[Et++];if(r==null){if(H||Tt===wt)return Yt(n);let i=F.byteOffset,a=t(L-e+i,I+i,F.buffer);if(a===wt)return Tt=wt,Yt(n);if(typeof a==`string`)r=a,Tt=Ct;else if(Tt=a,Et=1,V=1,r=Tt[0],r===void 0)throw Error(`Unexpected end of buffer`)}let i=r.length;return i<=n?(L+=n,r):(Dt=r,B=L,V=L+i,L+=n,r.slice(0,n))}}}function Yt(e){let t;if(e<16&&(t=en(e)))return t;if(e>64&&St)return St.decode(F.subarray(L,L+=e));let n=L+e,r=[];for(t=``;L<n;){let e=F[L++];if(!(e&128))r.push(e);else if((e&224)==192){if(e<194||L>=n||(F[L]&192)!=128)r.push(65533);else{let t=F[L++]&63;r.push((e&31)<<6|t)}}else if((e&240)==224){let t=L<n?F[L]:0;if(L>=n||(t&192)!=128||e===224&&t<160||e===237&&t>=160)r.push(65533);else if(L++,L>=n||(F[L]&192)!=128)r.push(65533);else{let n=F[L++]&63;r.push((e&31)<<12|(t&63)<<6|n)}}else if((e&248)==240){let t=L<n?F[L]:0;if(e>244||L>=n||(t&192)!=128||e===240&&t<144||e===244&&t>=144)r.push(65533);else if(L++,L>=n||(F[L]&192)!=128)r.push(65533);else{let i=F[L++]&63;if(L>=n||(F[L]&192)!=128)r.push(65533);else{let n=F[L++]&63,a=(e&7)<<18|(t&63)<<12|i<<6|n;a-=65536,r.push(a>>>10&1023|55296),r.push(56320|a&1023)}}}else r.push(65533);r.length>=4096&&(t+=K.apply(String,r),r.length=0)}return r.length>0&&(t+=K.apply(String,r)),t}function Xt(e){let t=/* @__PURE__ */ Error(`Unexpected end of MessagePack data`);return t.incomplete=!0,e>I&&L<=I&&(t.missingBytes=e-I),t}function Zt(e){if(e>I-L||(kt-=e)<0)throw Xt(L+e);let t=Array(e);for(let n=0;n<e;n++)t[n]=G();return R.freezeData?Object.freeze(t):t}function Qt(e){if(e>(I-L)/2)throw Xt(L+2*e);if(R.mapsAsObjects){let t={};for(let n=0;n<e;n++){let e=on();e===`__proto__`&&(e=`__proto_`),t[e]=G()}return t}{let t=/* @__PURE__ */ new Map;for(let n=0;n<e;n++)t.set(G(),G());return t}}var K=String.fromCharCode;function $t(e){let t=L;if(F.latin1Slice){let n=t+e;if(n>I)return;for(let e=t;e<n;e++)if((F[e]&128)>0)return;return L=n,F.latin1Slice(t,n)}let n=Array(e);for(let r=0;r<e;r++){let e=F[L++];if((e&128)>0){L=t;return}n[r]=e}return K.apply(String,n)}function en(e){if(e<4){if(e<2){if(e===0)return``;{let e=F[L++];if((e&128)>1){--L;return}return K(e)}}{let t=F[L++],n=F[L++];if((t&128)>0||(n&128)>0){L-=2;return}if(e<3)return K(t,n);let r=F[L++];if((r&128)>0){L-=3;return}return K(t,n,r)}}{let t=F[L++],n=F[L++],r=F[L++],i=F[L++];if((t&128)>0||(n&128)>0||(r&128)>0||(i&128)>0){L-=4;return}if(e<6){if(e===4)return K(t,n,r,i);{let e=F[L++];if((e&128)>0){L-=5;return}return K(t,n,r,i,e)}}if(e<8){let a=F[L++],o=F[L++];if((a&128)>0||(o&128)>0){L-=6;return}if(e<7)return K(t,n,r,i,a,o);let s=F[L++];if((s&128)>0){L-=7;return}return K(t,n,r,i,a,o,s)}{let a=F[L++],o=F[L++],s=F[L++],c=F[L++];if((a&128)>0||(o&128)>0||(s&128)>0||(c&128)>0){L-=8;return}if(e<10){if(e===8)return K(t,n,r,i,a,o,s,c);{let e=F[L++];if((e&128)>0){L-=9;return}return K(t,n,r,i,a,o,s,c,e)}}if(e<12){let l=F[L++],u=F[L++];if((l&128)>0||(u&128)>0){L-=10;return}if(e<11)return K(t,n,r,i,a,o,s,c,l,u);let d=F[L++];if((d&128)>0){L-=11;return}return K(t,n,r,i,a,o,s,c,l,u,d)}{let l=F[L++],u=F[L++],d=F[L++],f=F[L++];if((l&128)>0||(u&128)>0||(d&128)>0||(f&128)>0){L-=12;return}if(e<14){if(e===12)return K(t,n,r,i,a,o,s,c,l,u,d,f);{let e=F[L++];if((e&128)>0){L-=13;return}return K(t,n,r,i,a,o,s,c,l,u,d,f,e)}}{let p=F[L++],m=F[L++];if((p&128)>0||(m&128)>0){L-=14;return}if(e<15)return K(t,n,r,i,a,o,s,c,l,u,d,f,p,m);let h=F[L++];if((h&128)>0){L-=15;return}return K(t,n,r,i,a,o,s,c,l,u,d,f,p,m,h)}}}}}function tn(){let e=F[L++],t;if(e<192)t=e-160;else switch(e){case 217:t=F[L++];break;case 218:t=W.getUint16(L),L+=2;break;case 219:t=W.getUint32(L),L+=4;break;default:throw Error(`Expected string`)}return Yt(t)}function nn(e){return R.copyBuffers?Uint8Array.prototype.slice.call(F,L,L+=e):F.subarray(L,L+=e)}function rn(e){if(e>=I-L)throw Xt(L+1+e);let t=F[L++];if(U[t]){let n;return U[t](F.subarray(L,n=L+=e),e=>{L=e;try{return G()}finally{L=n}})}throw Error(`Unknown extension type `+t)}var an=Array(4096);function on(){let e=F[L++];if(e>=160&&e<192){if(e-=160,V>=L)return Dt.slice(L-B,(L+=e)-B);if(!(V==0&&I<180))return Wt(e)}else return L--,sn(G());if(e>I-L)throw Xt(L+e);let t=(e<<5^(e>1?W.getUint16(L):e>0?F[L]:0))&4095,n=an[t],r=L,i=L+e-3,a,o=0;if(n&&n.bytes==e){for(;r<i;){if(a=W.getUint32(r),a!=n[o++]){r=1879048192;break}r+=4}for(i+=3;r<i;)if(a=F[r++],a!=n[o++]){r=1879048192;break}if(r===i)return L=r,n.string;i-=3,r=L}for(n=[],an[t]=n,n.bytes=e;r<i;)a=W.getUint32(r),n.push(a),r+=4;for(i+=3;r<i;)a=F[r++],n.push(a);let s=e<16?en(e):$t(e);return s==null?n.string=Wt(e):n.string=s}function sn(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`||typeof e==`bigint`)return e.toString();if(e==null)return e+``;if(R.allowArraysInMapKeys&&Array.isArray(e)&&e.flat().every(e=>[`string`,`number`,`boolean`,`bigint`].includes(typeof e)))return e.flat().toString();throw Error(`Invalid property type for record: ${typeof e}. A MessagePack map with non-string keys can be decoded as a Map with mapsAsObjects: false`)}const cn=(e,t)=>{let n=G().map(sn),r=e;t!==void 0&&(e=e<32?-((t<<5)+e):(t<<5)+e,n.highByte=t);let i=z[e];return i&&(i.isShared||Nt)&&((z.restoreStructures||(z.restoreStructures=[]))[e]=i),z[e]=n,n.read=Vt(n,r),(n.read0||n.read)()};U[0]=()=>{},U[0].noBuffer=!0,U[66]=e=>{let t=e.byteLength%8||8,n=BigInt(e[0]&128?e[0]-256:e[0]);for(let r=1;r<t;r++)n<<=BigInt(8),n+=BigInt(e[r]);if(e.byteLength!==t){let r=new DataView(e.buffer,e.byteOffset,e.byteLength),i=(e,t)=>{let n=t-e;if(n<=40){let n=r.getBigUint64(e);for(let i=e+8;i<t;i+=8)n<<=BigInt(64),n|=r.getBigUint64(i);return n}let a=e+(n>>4<<3),o=i(e,a),s=i(a,t);return o<<BigInt((t-a)*8)|s};n=n<<BigInt((r.byteLength-t)*8)|i(t,r.byteLength)}return n};let ln={Error,EvalError,RangeError,ReferenceError,SyntaxError,TypeError,URIError,AggregateError:typeof AggregateError==`function`?AggregateError:null};U[101]=()=>{let e=G();if(!ln[e[0]]){let t=Error(e[1],{cause:e[2]});return t.name=e[0],t}return ln[e[0]](e[1],{cause:e[2]})},U[105]=e=>{if(R.structuredClone===!1)throw Error(`Structured clone extension is disabled`);let t=W.getUint32(L-4);Ot||=/* @__PURE__ */ new Map;let n=F[L],r;r=n>=144&&n<160||n==220||n==221?[]:n>=128&&n<144||n==222||n==223?/* @__PURE__ */ new Map:(n>=199&&n<=201||n>=212&&n<=216)&&F[L+1]===115?/* @__PURE__ */ new Set:{};let i={target:r};Ot.set(t,i);let a=G();if(i.used)Object.assign(r,a);else return i.target=a;if(r instanceof Map)for(let[e,t]of a.entries())r.set(e,t);if(r instanceof Set)for(let e of Array.from(a))r.add(e);return r},U[112]=e=>{if(R.structuredClone===!1)throw Error(`Structured clone extension is disabled`);let t=W.getUint32(L-4),n=Ot.get(t);return n.used=!0,n.target},U[115]=()=>new Set(G());const un=[`Int8`,`Uint8`,`Uint8Clamped`,`Int16`,`Uint16`,`Int32`,`Uint32`,`Float32`,`Float64`,`BigInt64`,`BigUint64`].map(e=>e+`Array`);let dn=typeof globalThis==`object`?globalThis:window;U[116]=e=>{let t=e[0],n=Uint8Array.prototype.slice.call(e,1).buffer,r=un[t];if(!r){if(t===16)return n;if(t===17)return new DataView(n);throw Error(`Could not find typed array for code `+t)}return new dn[r](n)},U[120]=()=>{let e=G();return new RegExp(e[0],e[1])};const fn=[];U[98]=e=>{let t=(e[0]<<24)+(e[1]<<16)+(e[2]<<8)+e[3],n=L;return L+=t-e.length,H=fn,H=[tn(),tn()],H.position0=0,H.position1=0,H.postBundlePosition=L,L=n,G()},U[255]=e=>e.length==4?/* @__PURE__ */ new Date((e[0]*16777216+(e[1]<<16)+(e[2]<<8)+e[3])*1e3):e.length==8?/* @__PURE__ */ new Date(((e[0]<<22)+(e[1]<<14)+(e[2]<<6)+(e[3]>>2))/1e6+((e[3]&3)*4294967296+e[4]*16777216+(e[5]<<16)+(e[6]<<8)+e[7])*1e3):e.length==12?/* @__PURE__ */ new Date(((e[0]<<24)+(e[1]<<16)+(e[2]<<8)+e[3])/1e6+((e[4]&128?-281474976710656:0)+e[6]*1099511627776+e[7]*4294967296+e[8]*16777216+(e[9]<<16)+(e[10]<<8)+e[11])*1e3):/* @__PURE__ */ new Date(`invalid`);function pn(e){R&&R._onSaveState&&R._onSaveState();let t=I,n=L,r=Et,i=B,a=V,o=Dt,s=Tt,c=Ot,l=H,u=kt,d=new Uint8Array(F.slice(0,I)),f=z,p=z.slice(0,z.length),m=R,h=Nt;try{return e()}finally{I=t,L=n,Et=r,B=i,V=a,Dt=o,Tt=s,Ot=c,H=l,kt=u,F=d,Nt=h,z=f,z.splice(0,z.length,...p),R=m,W=new DataView(F.buffer,F.byteOffset,F.byteLength)}}function mn(){F=null,Ot=null,z=null}const hn=Array(147);for(let e=0;e<256;e++)hn[e]=+(`1e`+Math.floor(45.15-e*.30103));var gn=new Ft({useRecords:!1});gn.unpack,gn.unpackMultiple,gn.unpack;const _n={NEVER:0,ALWAYS:1,DECIMAL_ROUND:3,DECIMAL_FIT:4};new Uint8Array((/* @__PURE__ */ new Float32Array(1)).buffer,0,4),Ft.SUPPORTS_STRUCT_HOOKS=!0;let vn;try{vn=new TextEncoder}catch{}let yn,bn;const xn=typeof Buffer<`u`,Sn=xn?function(e){return Buffer.allocUnsafeSlow(e)}:Uint8Array,Cn=xn?Buffer:Uint8Array,wn=xn?4294967296:2144337920;let q,Tn,J,Y=0,X,Z=null,En=!1;const Dn=/[\u0080-\uFFFF]/,Q=Symbol(`record-id`);var On=class extends Ft{constructor(e){super(e),this.offset=0;let t,n,r,i,a=Cn.prototype.utf8Write?function(e,t){return q.utf8Write(e,t,q.byteLength-t)}:vn&&vn.encodeInto?function(e,t){return vn.encodeInto(e,q.subarray(t)).written}:!1,o=this;e||={};let s=e&&e.sequential,c=e.structures||e.saveStructures,l=e.maxSharedStructures;if(l??=c?32:0,l>8160)throw Error(`Maximum maxSharedStructure is 8160`);e.structuredClone&&e.moreTypes==null&&(this.moreTypes=!0);let u=e.maxOwnStructures;u??=c?32:64,!this.structures&&e.useRecords!=0&&(this.structures=[]);let d=l>32||u+l>64,f=l+64,p=l+u+64;if(p>8256)throw Error(`Maximum maxSharedStructure + maxOwnStructure is 8192`);let m=[],h=0,g=0,_=!1,v=0,y=null;this.pack=this.encode=function(e,a){if(En)return x(e,a);if(q||(q=new Sn(8192),J=q.dataView||(q.dataView=new DataView(q.buffer,0,8192)),Y=0),X=q.length-10,X-Y<2048?(q=new Sn(q.length),J=q.dataView||(q.dataView=new DataView(q.buffer,0,q.length)),X=q.length-10,Y=0):Y=Y+7&2147483640,t=Y,a&2048&&(Y+=a&255),i=o.structuredClone?/* @__PURE__ */ new Map:null,o.bundleStrings&&typeof e!=`string`?(Z=[],Z.size=1/0):Z=null,r=o.structures,r){r.uninitialized&&(r=o._mergeStructures(o.getStructures()));let e=r.sharedLength||0;if(e>l)throw Error(`Shared structures is larger than maximum shared structures, try increasing maxSharedStructures to `+r.sharedLength);r.transitions||(b(v&&o.saveStructures?Math.min(e,o.lastNamedStructuresLength||0):e),v||(o.lastNamedStructuresLength=e)),s&&r.nextId>=e+64||(r.nextId=e+64)}n&&=!1,!v&&y&&(y=null);let c;En=!0,_=!0;try{o._writeStruct&&!(v&&o.saveStructures)&&e&&typeof e==`object`?e.constructor===Object?O(e):e.constructor!==Map&&!Array.isArray(e)&&!bn.some(t=>e instanceof t)?O(o.useToJSON!==!1&&e.toJSON?e.toJSON():e):w(e):w(e);let n=Z;if(Z&&In(t,w,0),i&&i.idsToInsert){let e=i.idsToInsert.sort((e,t)=>e.offset>t.offset?1:-1),r=e.length,a=-1;for(;n&&r>0;){let i=e[--r].offset+t;i<n.stringsPosition+t&&a===-1&&(a=0),i>n.position+t?a>=0&&(a+=6):(a>=0&&(J.setUint32(n.position+t,J.getUint32(n.position+t)+a),a=-1),n=n.previous,r++)}a>=0&&n&&J.setUint32(n.position+t,J.getUint32(n.position+t)+a),Y+=e.length*6,Y>X&&k(Y),o.offset=Y;let s=Fn(q.subarray(t,Y),e);return i=null,s}return o.offset=Y,a&512?(q.start=t,q.end=Y,q):q.subarray(t,Y)}catch(e){throw c=e,e}finally{if(_=!1,r){if(S(),y&&!v){let e=y;if(y=null,!c&&o.saveStructures){let t=r.sharedLength||0;r.transitions||b(t);for(let i=0,a=e.length;i<a&&t<l;i++){let a=e[i],o,s=r.transitions;for(let e=0,t=a.length;e<t;e++){let t=a[e];o=s[t],o||=s[t]=Object.create(null),s=o}if(!s[Q]){let e=t+64;a.highByte=e>=96&&d?e-96>>5:-1,a.isShared=!0,s[Q]=e,s.__keys__=a,r[t++]=a,r.sharedLength=t,n=!0}}s&&r.nextId>=t+64||(r.nextId=t+64)}}if(n&&!v&&o.saveStructures){let n=r.sharedLength||0,i=q.subarray(t,Y);if(!c){let t=!1;try{let n=(o._prepareStructures||Ln)(r,o);if(o.saveStructures(n,n.isCompatible)===!1)return r.uninitialized=!0,t=!0,En=!1,o.pack(e,a);t=!0}finally{En=!1,t||(r=o.structures,o.getStructures&&(r.uninitialized=!0),r.length=r.sharedLength=o.lastNamedStructuresLength||0,r.transitions=null)}return o.lastNamedStructuresLength=n,q.length>1073741824&&(q=null),i}o.getStructures&&(r.uninitialized=!0),r.length=r.sharedLength=o.lastNamedStructuresLength||0,r.transitions=null}}En=!1,q.length>1073741824&&(q=null),a&1024&&(Y=t)}};let b=e=>{r.transitions=Object.create(null);for(let t=0;t<e;t++){let e=r[t];if(!e)continue;let n,i=r.transitions;for(let t=0,r=e.length;t<r;t++){let r=e[t];n=i[r],n||=i[r]=Object.create(null),i=n}i[Q]=t+64}},x=(e,a)=>{let s=q,c=J,l=Y,u=X,d=Z,f=t,p=i,g=n,x=_,S,C,w,ee,T,E,D,O,k,A,j,M,N=!1;x&&(M=y?y.length:0,v++);try{if(x&&r){S=r,C=r.transitions,w=r.nextId,ee=r.nextOwnId,k=o.lastNamedStructuresLength,O=r.sharedLength||0,D=r.slice(O),T=m,E=[];for(let e=0,t=m.length;e<t;e++){let t=m[e],n=t[Q];E[e]=n,t[Q]=0,n>=O+64&&t.__keys__&&(D[n-O-64]=t.__keys__)}if(m=[],g&&o.saveStructures&&C){A=[];for(let e=k||0;e<O;e++){let t=r[e];if(!t)continue;let n=C;for(let e=0,r=t.length;e<r&&n;e++)n=n[t[e]];n&&n[Q]===e+64&&(A.push(n,e+64,n.__keys__),n[Q]=0,n.__keys__=null)}}r.length=O,r.nextId=O+64,r.nextOwnId=void 0,j=h,h=0}q=null,En=!1,_=!1;let t=o.pack(e,a);return N=!0,t}finally{if(!N&&x&&y&&(y.length=M),En=!0,_=x,q=s,J=c,Y=l,X=u,Z=d,t=f,i=p,x){if(v--,n=g||n,r=o.structures,r&&D){if(m!==T)for(let e=0,t=m.length;e<t;e++)m[e][Q]=0;let e=r.sharedLength||0;if(r!==S){if(g||D.length>0){for(let e=0;e<O;e++)S[e]!==void 0&&(r[e]=S[e]);e=r.sharedLength=r.length=O,o.lastNamedStructuresLength=k}else!v&&!n&&(o.lastNamedStructuresLength=e)}r.length=Math.max(e,O+D.length);for(let t=Math.max(0,e-O),n=D.length;t<n;t++)D[t]!==void 0&&(r[O+t]=D[t]);if(r.transitions!==C||r!==S){if(r===S&&!r.transitions&&e===O)r.transitions=C;else{b(v&&o.saveStructures?Math.min(e,o.lastNamedStructuresLength||0):e),A=null,T=[],E=[];for(let t=Math.max(0,e-O),n=D.length;t<n;t++){let e=D[t];if(!e)continue;let n,i=r.transitions;for(let t=0,r=e.length;t<r;t++){let r=e[t];n=i[r],n||=i[r]=Object.create(null),i=n}i[Q]||(T.push(i),E.push(O+t+64))}}}if(A)for(let e=0,t=A.length;e<t;e+=3)A[e][Q]=A[e+1],A[e].__keys__=A[e+2];m=T;for(let e=0,t=E.length;e<t;e++)m[e][Q]||(m[e][Q]=E[e]);r.nextId=w>=e+64?w:e+64,r.nextOwnId=ee,j!==void 0&&(h+=j)}}else n=g}},S=()=>{g<10&&g++;let e=r.sharedLength||0;if(r.length>e&&!s&&(r.length=e),h>1e4&&!v)r.transitions=null,g=0,h=0,m.length>0&&(m=[]);else if(m.length>0&&!s){for(let e=0,t=m.length;e<t;e++)m[e][Q]=0;m=[]}},C=e=>{var t=e.length;t<16?q[Y++]=144|t:t<65536?(q[Y++]=220,q[Y++]=t>>8,q[Y++]=t&255):(q[Y++]=221,J.setUint32(Y,t),Y+=4);for(let n=0;n<t;n++)w(e[n])},w=e=>{Y>X&&(q=k(Y));var n=typeof e,r;if(n===`string`){let n=e.length;if(Z&&n>=4&&n<4096){if((Z.size+=n)>21760){let e,n=(Z[0]?Z[0].length*3+Z[1].length:0)+10;Y+n>X&&(q=k(Y+n));let r;Z.position?(r=Z,q[Y]=200,Y+=3,q[Y++]=98,e=Y-t,Y+=4,In(t,w,0),J.setUint16(e+t-3,Y-t-e)):(q[Y++]=214,q[Y++]=98,e=Y-t,Y+=4),Z=[``,``],Z.previous=r,Z.size=0,Z.position=e}let r=Dn.test(e);Z[+!r]+=e,q[Y++]=193,w(r?-n:n);return}let i;i=n<32?1:n<256?2:n<65536?3:5;let o=n*3;if(Y+o>X&&(q=k(Y+o)),n<64||!a){let t,a,o,s=Y+i;for(t=0;t<n;t++)a=e.charCodeAt(t),a<128?q[s++]=a:a<2048?(q[s++]=a>>6|192,q[s++]=a&63|128):(a&64512)==55296&&((o=e.charCodeAt(t+1))&64512)==56320?(a=65536+((a&1023)<<10)+(o&1023),t++,q[s++]=a>>18|240,q[s++]=a>>12&63|128,q[s++]=a>>6&63|128,q[s++]=a&63|128):(q[s++]=a>>12|224,q[s++]=a>>6&63|128,q[s++]=a&63|128);r=s-Y-i}else r=a(e,Y+i);r<32?q[Y++]=160|r:r<256?(i<2&&q.copyWithin(Y+2,Y+1,Y+1+r),q[Y++]=217,q[Y++]=r):r<65536?(i<3&&q.copyWithin(Y+3,Y+2,Y+2+r),q[Y++]=218,q[Y++]=r>>8,q[Y++]=r&255):(i<5&&q.copyWithin(Y+5,Y+3,Y+3+r),q[Y++]=219,J.setUint32(Y,r),Y+=4),Y+=r}else if(n===`number`){if(e>>>0===e)e<32||e<128&&this.useRecords===!1||e<64&&!this._writeStruct?q[Y++]=e:e<256?(q[Y++]=204,q[Y++]=e):e<65536?(q[Y++]=205,q[Y++]=e>>8,q[Y++]=e&255):(q[Y++]=206,J.setUint32(Y,e),Y+=4);else if((e|0)===e)e>=-32?q[Y++]=256+e:e>=-128?(q[Y++]=208,q[Y++]=e+256):e>=-32768?(q[Y++]=209,J.setInt16(Y,e),Y+=2):(q[Y++]=210,J.setInt32(Y,e),Y+=4);else{let t;if((t=this.useFloat32)>0&&e<4294967296&&e>=-2147483648){q[Y++]=202,J.setFloat32(Y,e);let n;if(t<4||((n=e*hn[(q[Y]&127)<<1|q[Y+1]>>7])|0)===n){Y+=4;return}Y--}q[Y++]=203,J.setFloat64(Y,e),Y+=8}}else if(n===`object`||n===`function`){if(!e)q[Y++]=192;else{if(i){let n=i.get(e);if(n){n.id||=(i.idsToInsert||(i.idsToInsert=[])).push(n),q[Y++]=214,q[Y++]=112,J.setUint32(Y,n.id),Y+=4;return}i.set(e,{offset:Y-t})}let a=e.constructor;if(a===Object)D(e);else if(a===Array)C(e);else if(a===Map){if(this.mapAsEmptyObject)q[Y++]=128;else{r=e.size,r<16?q[Y++]=128|r:r<65536?(q[Y++]=222,q[Y++]=r>>8,q[Y++]=r&255):(q[Y++]=223,J.setUint32(Y,r),Y+=4);for(let[t,n]of e)w(t),w(n)}}else{for(let t=0,n=yn.length;t<n;t++){let r=bn[t];if(e instanceof r){if(e.constructor!==r&&t>=n-jn&&o.useToJSON!==!1&&e.toJSON!==void 0&&e.toJSON!==kn&&e.toJSON!==An)break;let i=yn[t];if(i.write){i.type&&(q[Y++]=212,q[Y++]=i.type,q[Y++]=0);let t=i.write.call(this,e);t===e?Array.isArray(e)?C(e):D(e):w(t);return}let a=q,s=J,c=Y,l=Z;q=null;let u;try{u=i.pack.call(this,e,e=>(q=a,a=null,Y+=e,Y>X&&k(Y),{target:q,targetView:J,position:Y-e}),w)}finally{a&&(q=a,J=s,Y=c,Z=l,X=q.length-10)}u&&(u.length+Y>X&&k(u.length+Y),Y=Pn(u,q,Y,i.type));return}}if(Array.isArray(e))C(e);else{if(o.useToJSON!==!1&&e.toJSON){let t=e.toJSON();if(t!==e)return w(t)}if(n===`function`)return w(this.writeFunction&&this.writeFunction(e));D(e)}}}}else if(n===`boolean`)q[Y++]=e?195:194;else if(n===`bigint`){if(e<0x8000000000000000&&e>=-0x8000000000000000)q[Y++]=211,J.setBigInt64(Y,e);else if(e<0x10000000000000000&&e>0)q[Y++]=207,J.setBigUint64(Y,e);else if(this.largeBigIntToFloat)q[Y++]=203,J.setFloat64(Y,Number(e));else if(this.largeBigIntToString)return w(e.toString());else if(this.useBigIntExtension||this.moreTypes){let t=BigInt(e<0?-1:0),n;if(e>>BigInt(65536)===t){let r=BigInt(0x10000000000000000)-BigInt(1),i=[];for(;i.push(e&r),e>>BigInt(63)!==t;)e>>=BigInt(64);n=new Uint8Array(new BigUint64Array(i).buffer),n.reverse()}else{let t=e<0,r=(t?~e:e).toString(16);if(r.length%2?r=`0`+r:parseInt(r.charAt(0),16)>=8&&(r=`00`+r),xn)n=Buffer.from(r,`hex`);else{n=new Uint8Array(r.length/2);for(let e=0;e<n.length;e++)n[e]=parseInt(r.slice(e*2,e*2+2),16)}if(t)for(let e=0;e<n.length;e++)n[e]=~n[e]}n.length+Y>X&&k(n.length+Y),Y=Pn(n,q,Y,66);return}else throw RangeError(e+` was too large to fit in MessagePack 64-bit integer format, use useBigIntExtension, or set largeBigIntToFloat to convert to float-64, or set largeBigIntToString to convert to string`);Y+=8}else if(n===`undefined`)this.encodeUndefinedAsNil?q[Y++]=192:(q[Y++]=212,q[Y++]=0,q[Y++]=0);else throw Error(`Unknown type: `+n)},ee=this.variableMapSize||this.coercibleKeyAsNumber||this.skipValues?e=>{let t;if(this.skipValues){t=[];for(let n in e)(typeof e.hasOwnProperty!=`function`||e.hasOwnProperty(n))&&!this.skipValues.includes(e[n])&&t.push(n)}else t=Object.keys(e);let n=t.length;n<16?q[Y++]=128|n:n<65536?(q[Y++]=222,q[Y++]=n>>8,q[Y++]=n&255):(q[Y++]=223,J.setUint32(Y,n),Y+=4);let r;if(this.coercibleKeyAsNumber)for(let i=0;i<n;i++){r=t[i];let n=Number(r);w(isNaN(n)?r:n),w(e[r])}else for(let i=0;i<n;i++)w(r=t[i]),w(e[r])}:e=>{q[Y++]=222;let n=Y-t;Y+=2;let r=0;for(let t in e)(typeof e.hasOwnProperty!=`function`||e.hasOwnProperty(t))&&(w(t),w(e[t]),r++);if(r>65535)throw Error(`Object is too large to serialize with fast 16-bit map size, use the "variableMapSize" option to serialize this object`);q[n+++t]=r>>8,q[n+t]=r&255},T=this.useRecords===!1?ee:e.progressiveRecords&&!d&&u>0?e=>{let n,i=r.transitions||(r.transitions=Object.create(null)),a=Y++-t,o;for(let s in e)if(typeof e.hasOwnProperty!=`function`||e.hasOwnProperty(s)){if(n=i[s],n)i=n;else{let c=Object.keys(e),l=i;i=r.transitions;let u=0;for(let e=0,t=c.length;e<t;e++){let t=c[e];n=i[t],n||(n=i[t]=Object.create(null),u++),i=n}a+t+1==Y?(Y--,A(i,c,u)):j(i,c,a,u),o=!0,i=l[s]}w(e[s])}if(!o){let n=i[Q];n?q[a+t]=n:j(i,Object.keys(e),a,0)}}:e=>{let t,n=r.transitions||(r.transitions=Object.create(null)),i=0;for(let r in e)(typeof e.hasOwnProperty!=`function`||e.hasOwnProperty(r))&&(t=n[r],t||(t=n[r]=Object.create(null),i++),n=t);let a=n[Q];if(a)a>=96&&d?(q[Y++]=((a-=96)&31)+96,q[Y++]=a>>5):q[Y++]=a;else if(A(n,n.__keys__||Object.keys(e),i)===!1)return ee(e);for(let t in e)(typeof e.hasOwnProperty!=`function`||e.hasOwnProperty(t))&&w(e[t])},E=typeof this.useRecords==`function`&&this.useRecords,D=E?e=>{E(e)?T(e):ee(e)}:T,O=e=>{let i=o._writeStruct(e,q,t,Y,r,k,(e,t,r)=>{if(r)return n=!0;Y=t;let i=q;return w(e),S(),i===q?Y:{position:Y,targetView:J,target:q}});if(i===0)return D(e);Y=i},k=e=>{let n;if(e>16777216){if(e-t>wn)throw Error(`Packed buffer would be larger than maximum buffer size`);n=Math.min(wn,Math.round(Math.max((e-t)*(e>67108864?1.25:2),4194304)/4096)*4096)}else n=(Math.max(e-t<<2,q.length-1)>>12)+1<<12;let r=new Sn(n);return J=r.dataView||=new DataView(r.buffer,0,n),e=Math.min(e,q.length),q.copy?q.copy(r,0,t,e):r.set(q.slice(t,e)),Y-=t,t=0,X=r.length-10,q=r},A=(e,t,i)=>{let a=r.nextId;if(a||=64,a<f&&(v&&this.saveStructures||this.shouldShareStructure&&!this.shouldShareStructure(t))){if(v&&this.saveStructures&&(!this.shouldShareStructure||this.shouldShareStructure(t))&&(y||=[]).push(t),!u)return!1;a=r.nextOwnId,a<p||(a=f),r.nextOwnId=a+1}else{if(a>=p){if(!u)return!1;a=f}r.nextId=a+1}let o=t.highByte=a>=96&&d?a-96>>5:-1;e[Q]=a,e.__keys__=t,r[a-64]=t,a<f?(t.isShared=!0,r.sharedLength=a-63,n=!0,o>=0?(q[Y++]=(a&31)+96,q[Y++]=o):q[Y++]=a):(o>=0?(q[Y++]=213,q[Y++]=114,q[Y++]=(a&31)+96,q[Y++]=o):(q[Y++]=212,q[Y++]=114,q[Y++]=a),i&&(h+=g*i),m.length>=u&&(m.shift()[Q]=0),m.push(e),w(t))},j=(e,n,r,i)=>{let a=q,o=Y,s=X,c=t;q=Tn,Y=0,t=0,q||(Tn=q=new Sn(8192)),X=q.length-10,A(e,n,i),Tn=q;let l=Y;if(q=a,Y=o,X=s,t=c,l>1){let e=Y+l-1;e>X&&k(e);let n=r+t;q.copyWithin(n+l,n+1,Y),q.set(Tn.slice(0,l),n),Y=e}else q[r+t]=Tn[0]}}useBuffer(e){q=e,q.dataView||(q.dataView=new DataView(q.buffer,q.byteOffset,q.byteLength)),J=q.dataView,Y=0}set position(e){Y=e}get position(){return Y}clearSharedData(){this.structures&&(this.structures=[],this.lastNamedStructuresLength=0),this.typedStructs&&=[]}};const kn=Date.prototype.toJSON,An=typeof Buffer<`u`?Buffer.prototype.toJSON:kn;bn=[Date,Set,Error,RegExp,ArrayBuffer,Object.getPrototypeOf(Uint8Array.prototype).constructor,DataView,jt],yn=[{pack(e,t,n){let r=e.getTime()/1e3;if((this.useTimestamp32||e.getMilliseconds()===0)&&r>=0&&r<4294967296){let{target:e,targetView:n,position:i}=t(6);e[i++]=214,e[i++]=255,n.setUint32(i,r)}else if(r>0&&r<4294967296){let{target:n,targetView:i,position:a}=t(10);n[a++]=215,n[a++]=255,i.setUint32(a,e.getMilliseconds()*4e6+(r/1e3/4294967296|0)),i.setUint32(a+4,r)}else if(isNaN(r)){if(this.onInvalidDate)return t(0),n(this.onInvalidDate());let{target:e,targetView:r,position:i}=t(3);e[i++]=212,e[i++]=255,e[i++]=255}else{let{target:n,targetView:i,position:a}=t(15);n[a++]=199,n[a++]=12,n[a++]=255,i.setUint32(a,e.getMilliseconds()*1e6),i.setBigInt64(a+4,BigInt(Math.floor(r)))}}},{pack(e,t,n){if(this.setAsEmptyObject)return t(0),n({});let r=Array.from(e),{target:i,position:a}=t(this.moreTypes?3:0);this.moreTypes&&(i[a++]=212,i[a++]=115,i[a++]=0),n(r)}},{pack(e,t,n){let{target:r,position:i}=t(this.moreTypes?3:0);this.moreTypes&&(r[i++]=212,r[i++]=101,r[i++]=0),n([e.name,e.message,e.cause])}},{pack(e,t,n){let{target:r,position:i}=t(this.moreTypes?3:0);this.moreTypes&&(r[i++]=212,r[i++]=120,r[i++]=0),n([e.source,e.flags])}},{pack(e,t){this.moreTypes?Mn(e,16,t):Nn(xn?Buffer.from(e):new Uint8Array(e),t)}},{pack(e,t){let n=e.constructor;n!==Cn&&this.moreTypes?Mn(e,un.indexOf(n.name),t):Nn(e,t)}},{pack(e,t){this.moreTypes?Mn(e,17,t):Nn(xn?Buffer.from(e):new Uint8Array(e),t)}},{pack(e,t){let{target:n,position:r}=t(1);n[r]=193}}];const jn=yn.length;function Mn(e,t,n,r){let i=e.byteLength;if(i+1<256){var{target:a,position:o}=n(4+i);a[o++]=199,a[o++]=i+1}else if(i+1<65536){var{target:a,position:o}=n(5+i);a[o++]=200,a[o++]=i+1>>8,a[o++]=i+1&255}else{var{target:a,position:o,targetView:s}=n(7+i);a[o++]=201,s.setUint32(o,i+1),o+=4}a[o++]=116,a[o++]=t,e.buffer||(e=new Uint8Array(e)),a.set(new Uint8Array(e.buffer,e.byteOffset,e.byteLength),o)}function Nn(e,t){let n=e.byteLength;var r,i;if(n<256){var{target:r,position:i}=t(n+2);r[i++]=196,r[i++]=n}else if(n<65536){var{target:r,position:i}=t(n+3);r[i++]=197,r[i++]=n>>8,r[i++]=n&255}else{var{target:r,position:i,targetView:a}=t(n+5);r[i++]=198,a.setUint32(i,n),i+=4}r.set(e,i)}function Pn(e,t,n,r){let i=e.length;switch(i){case 1:t[n++]=212;break;case 2:t[n++]=213;break;case 4:t[n++]=214;break;case 8:t[n++]=215;break;case 16:t[n++]=216;break;default:i<256?(t[n++]=199,t[n++]=i):i<65536?(t[n++]=200,t[n++]=i>>8,t[n++]=i&255):(t[n++]=201,t[n++]=i>>24,t[n++]=i>>16&255,t[n++]=i>>8&255,t[n++]=i&255)}return t[n++]=r,t.set(e,n),n+=i,n}function Fn(e,t){let n,r=t.length*6,i=e.length-r;for(;n=t.pop();){let t=n.offset,a=n.id;e.copyWithin(t+r,t,i),r-=6;let o=t+r;e[o++]=214,e[o++]=105,e[o++]=a>>24,e[o++]=a>>16&255,e[o++]=a>>8&255,e[o++]=a&255,i=t}return e}function In(e,t,n){if(Z.length>0){J.setUint32(Z.position+e,Y+n-Z.position-e),Z.stringsPosition=Y-e;let r=Z;Z=null,t(r[0]),t(r[1])}}function Ln(e,t){return e.isCompatible=e=>{let n=!e||(t.lastNamedStructuresLength||0)===e.length;return n||t._mergeStructures(e),n},e}On.SUPPORTS_STRUCT_HOOKS=!0;let Rn=new On({useRecords:!1});Rn.pack,Rn.pack;const{NEVER:zn,ALWAYS:Bn,DECIMAL_ROUND:Vn,DECIMAL_FIT:Hn}=_n;var Un=/* @__PURE__ */ r(((e,t)=>{let n=()=>process.platform===`linux`,r=null;t.exports={isLinux:n,getReport:()=>{if(!r){
/* istanbul ignore next */
if(n()&&process.report){let e=process.report.excludeNetwork;process.report.excludeNetwork=!0,r=process.report.getReport(),process.report.excludeNetwork=e}else r={}}return r}}})),Wn=/* @__PURE__ */ r(((t,n)=>{let r=e(`fs`),i=2048;n.exports={LDD_PATH:`/usr/bin/ldd`,SELF_PATH:`/proc/self/exe`,readFileSync:e=>{let t=r.openSync(e,`r`),n=Buffer.alloc(i),a=r.readSync(t,n,0,i,0);return r.close(t,()=>{}),n.subarray(0,a)},readFile:e=>new Promise((t,n)=>{r.open(e,`r`,(e,a)=>{if(e)n(e);else{let e=Buffer.alloc(i);r.read(a,e,0,i,0,(n,i)=>{t(e.subarray(0,i)),r.close(a,()=>{})})}})})}})),Gn=/* @__PURE__ */ r(((e,t)=>{t.exports={interpreterPath:e=>{if(e.length<64||e.readUInt32BE(0)!==2135247942||e.readUInt8(4)!==2||e.readUInt8(5)!==1)return null;let t=e.readUInt32LE(32),n=e.readUInt16LE(54),r=e.readUInt16LE(56);for(let i=0;i<r;i++){let r=t+i*n;if(e.readUInt32LE(r)===3){let t=e.readUInt32LE(r+8),n=e.readUInt32LE(r+32);return e.subarray(t,t+n).toString().replace(/\0.*$/g,``)}}return null}}})),Kn=/* @__PURE__ */ r(((t,n)=>{let r=e(`child_process`),{isLinux:i,getReport:a}=Un(),{LDD_PATH:o,SELF_PATH:s,readFile:c,readFileSync:l}=Wn(),{interpreterPath:u}=Gn(),d,f,p,m=`getconf GNU_LIBC_VERSION 2>&1 || true; ldd --version 2>&1 || true`,h=``,g=()=>h||new Promise(e=>{r.exec(m,(t,n)=>{h=t?` `:n,e(h)})}),_=()=>{if(!h)try{h=r.execSync(m,{encoding:`utf8`})}catch{h=` `}return h},v=`glibc`,y=/LIBC[a-z0-9 \-).]*?(\d+\.\d+)/i,b=`musl`,x=e=>e.includes(`libc.musl-`)||e.includes(`ld-musl-`),S=()=>{let e=a();return e.header&&e.header.glibcVersionRuntime?v:Array.isArray(e.sharedObjects)&&e.sharedObjects.some(x)?b:null},C=e=>{let[t,n]=e.split(/[\r\n]+/);return t&&t.includes(v)?v:n&&n.includes(b)?b:null},w=e=>{if(e){if(e.includes(`/ld-musl-`))return b;if(e.includes(`/ld-linux-`))return v}return null},ee=e=>(e=e.toString(),e.includes(`musl`)?b:e.includes(`GNU C Library`)?v:null),T=async()=>{if(f!==void 0)return f;f=null;try{let e=await c(o);f=ee(e)}catch{}return f},E=()=>{if(f!==void 0)return f;f=null;try{let e=l(o);f=ee(e)}catch{}return f},D=async()=>{if(d!==void 0)return d;d=null;try{let e=await c(s),t=u(e);d=w(t)}catch{}return d},O=()=>{if(d!==void 0)return d;d=null;try{let e=l(s),t=u(e);d=w(t)}catch{}return d},k=async()=>{let e=null;if(i()&&(e=await D(),!e&&(e=await T(),e||=S(),!e))){let t=await g();e=C(t)}return e},A=()=>{let e=null;if(i()&&(e=O(),!e&&(e=E(),e||=S(),!e))){let t=_();e=C(t)}return e},j=async()=>i()&&await k()!==v,M=()=>i()&&A()!==v,N=async()=>{if(p!==void 0)return p;p=null;try{let e=(await c(o)).match(y);e&&(p=e[1])}catch{}return p},te=()=>{if(p!==void 0)return p;p=null;try{let e=l(o).match(y);e&&(p=e[1])}catch{}return p},ne=()=>{let e=a();return e.header&&e.header.glibcVersionRuntime?e.header.glibcVersionRuntime:null},re=e=>e.trim().split(/\s+/)[1],ie=e=>{let[t,n,r]=e.split(/[\r\n]+/);return t&&t.includes(v)?re(t):n&&r&&n.includes(b)?re(r):null};n.exports={GLIBC:v,MUSL:b,family:k,familySync:A,isNonGlibcLinux:j,isNonGlibcLinuxSync:M,version:async()=>{let e=null;if(i()&&(e=await N(),e||=ne(),!e)){let t=await g();e=ie(t)}return e},versionSync:()=>{let e=null;if(i()&&(e=te(),e||=ne(),!e)){let t=_();e=ie(t)}return e}}})),qn=/* @__PURE__ */ r(((t,n)=>{var r=e(`fs`),i=e(`path`),a=e(`url`),o=e(`os`),s=typeof __webpack_require__==`function`?__non_webpack_require__:e,c=process.config&&process.config.variables||{},l=!!process.env.PREBUILDS_ONLY,u=process.versions,d=u.modules;(u.deno||process.isBun)&&(d=`unsupported`);var f=k()?`electron`:O()?`node-webkit`:`node`,p=process.env.npm_config_arch||o.arch(),m=process.env.npm_config_platform||o.platform(),h=process.env.LIBC||(A(m)?`musl`:`glibc`),g=process.env.ARM_VERSION||(p===`arm64`?`8`:c.arm_version)||``,_=(u.uv||``).split(`.`)[0];n.exports=v;function v(e){return s(v.resolve(e))}v.resolve=v.path=function(t){t=i.resolve(t||`.`);var n=``,r;try{n=s(i.join(t,`package.json`)).name;var o=n.toUpperCase().replace(/-/g,`_`);process.env[o+`_PREBUILD`]&&(t=process.env[o+`_PREBUILD`])}catch(e){r=e}if(!l){var c=b(i.join(t,`build/Release`),x);if(c)return c;var u=b(i.join(t,`build/Debug`),x);if(u)return u}var v=j(t);if(v)return v;var E=j(i.dirname(process.execPath));if(E)return E;var O=(n[0]==`@`?``:`@`+n+`/`)+n+`-`+m+`-`+p,k;try{return M(i.dirname(e(`module`).createRequire(a.pathToFileURL(i.join(t,`package.json`))).resolve(O)))}catch(e){k=e}let A=`No native build was found for `+[`platform=`+m,`arch=`+p,`runtime=`+f,`abi=`+d,`uv=`+_,g?`armv=`+g:``,`libc=`+h,`node=`+process.versions.node,process.versions.electron?`electron=`+process.versions.electron:``,typeof __webpack_require__==`function`?`webpack=true`:``].filter(Boolean).join(` `)+`
    attempted loading from: `+t+` and package: `+O+`
`;throw r&&(A+=`Error finding package.json: `+r.message+`
`),k&&(A+=`Error resolving package: `+k.message+`
`),Error(A);function j(e){var t=y(i.join(e,`prebuilds`)).map(S).filter(C(m,p)).sort(w)[0];if(t)return M(i.join(e,`prebuilds`,t.name))}function M(e){var t=y(e).map(ee).filter(T(f,d)).sort(D(f))[0];if(t)return i.join(e,t.file)}};function y(e){try{return r.readdirSync(e)}catch{return[]}}function b(e,t){var n=y(e).filter(t);return n[0]&&i.join(e,n[0])}function x(e){return/\.node$/.test(e)}function S(e){var t=e.split(`-`);if(t.length===2){var n=t[0],r=t[1].split(`+`);if(n&&r.length&&r.every(Boolean))return{name:e,platform:n,architectures:r}}}function C(e,t){return function(n){return n==null||n.platform!==e?!1:n.architectures.includes(t)}}function w(e,t){return e.architectures.length-t.architectures.length}function ee(e){var t=e.split(`.`),n=t.pop(),r={file:e,specificity:0};if(n===`node`){for(var i=0;i<t.length;i++){var a=t[i];if(a===`node`||a===`electron`||a===`node-webkit`)r.runtime=a;else if(a===`napi`)r.napi=!0;else if(a.slice(0,3)===`abi`)r.abi=a.slice(3);else if(a.slice(0,2)===`uv`)r.uv=a.slice(2);else if(a.slice(0,4)===`armv`)r.armv=a.slice(4);else if(a===`glibc`||a===`musl`)r.libc=a;else continue;r.specificity++}return r}}function T(e,t){return function(n){return!(n==null||n.runtime!==e&&!E(n)||n.abi!==t&&!n.napi||n.uv&&n.uv!==_||n.armv&&n.armv!==g||n.libc&&n.libc!==h)}}function E(e){return e.runtime===`node`&&e.napi}function D(e){return function(t,n){return t.runtime===n.runtime?t.abi===n.abi?t.specificity===n.specificity?0:t.specificity>n.specificity?-1:1:t.abi?-1:1:t.runtime===e?-1:1}}function O(){return!!(process.versions&&process.versions.nw)}function k(){return process.versions&&process.versions.electron||process.env.ELECTRON_RUN_AS_NODE?!0:typeof window<`u`&&window.process&&window.process.type===`renderer`}function A(e){if(e!==`linux`)return!1;let{familySync:t,MUSL:n}=Kn();return t()===n}v.parseTags=ee,v.matchTags=T,v.compareTags=D,v.parseTuple=S,v.matchTuple=C,v.compareTuples=w})),Jn=/* @__PURE__ */ r(((t,n)=>{let r=typeof __webpack_require__==`function`?__non_webpack_require__:e;n.exports=typeof r.addon==`function`?r.addon.bind(r):qn()})),Yn=/* @__PURE__ */ r(((e,t)=>{t.exports=Jn()(import.meta.dirname)}));if(process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED===void 0||process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED.toLowerCase()!==`true`){let t;try{t=typeof e==`function`?Yn():v(import.meta.url)(`msgpackr-extract`),t&&Jt(t.extractStrings)}catch{}}const Xn=`6.7.0`;function Zn({code:e,jobId:t,parentKey:n,command:r,state:i}){let a;switch(e){case O.JobNotExist:a=/* @__PURE__ */ Error(`Missing key for job ${t}. ${r}`);break;case O.JobLockNotExist:a=/* @__PURE__ */ Error(`Missing lock for job ${t}. ${r}`);break;case O.JobNotInState:a=/* @__PURE__ */ Error(`Job ${t} is not in the ${i} state. ${r}`);break;case O.JobPendingChildren:a=/* @__PURE__ */ Error(`Job ${t} has pending dependencies. ${r}`);break;case O.ParentJobNotExist:a=/* @__PURE__ */ Error(`Missing key for parent job ${n}. ${r}`);break;case O.JobLockMismatch:a=/* @__PURE__ */ Error(`Lock mismatch for job ${t}. Cmd ${r} from ${i}`);break;case O.ParentJobCannotBeReplaced:a=/* @__PURE__ */ Error(`The parent job ${n} cannot be replaced. ${r}`);break;case O.JobBelongsToJobScheduler:a=/* @__PURE__ */ Error(`Job ${t} belongs to a job scheduler and cannot be removed directly. ${r}`);break;case O.JobHasFailedChildren:a=new yt(`Cannot complete job ${t} because it has at least one failed child. ${r}`);break;case O.SchedulerJobIdCollision:a=/* @__PURE__ */ Error(`Cannot create job scheduler iteration - job ID already exists. ${r}`);break;case O.SchedulerJobSlotsBusy:a=/* @__PURE__ */ Error(`Cannot create job scheduler iteration - current and next time slots already have jobs. ${r}`);break;default:a=/* @__PURE__ */ Error(`Unknown code ${e} error for ${t}. ${r}`)}return a.code=e,a}var Qn=class{constructor(e=`bull`){this.prefix=e}getKeys(e){let t={};return[``,`active`,`wait`,`waiting-children`,`paused`,`id`,`delayed`,`prioritized`,`stalled-check`,`completed`,`failed`,`stalled`,`repeat`,`limiter`,`meta`,`events`,`pc`,`marker`,`de`].forEach(n=>{t[n]=this.toKey(e,n)}),t}toKey(e,t){return`${this.getQueueQualifiedName(e)}:${t}`}getQueueQualifiedName(e){return`${this.prefix}:${e}`}};const $=new On({useRecords:!1,encodeUndefinedAsNil:!0}).pack;function $n(e){return e.status===`ready`||e.status===`connect`&&ot(e)}async function er(e,t,n){$n(t)||await n(),$n(t)&&(await e.disconnect(!0),await n())}var tr=class e extends _{constructor(e,t,n,r,i,a,o=!0){super(),this.connection=e,this.name=t,this.blockingConnection=a,this.ownsConnection=o,this.version=Xn,this.redisPrefix=i.prefix??`bull`;let s=this;this.queue={keys:n,toKey:r,opts:i,get closing(){return s.closing},get client(){return s.connection.client},get blockingClient(){return s.blockingConnection?.client},get redisVersion(){return s.connection.redisVersion},get databaseType(){return s.connection.databaseType}},this.moveToFinishedKeys=[n.wait,n.active,n.prioritized,n.events,n.stalled,n.limiter,n.delayed,n.paused,n.meta,n.pc,void 0,void 0,void 0,void 0],this.ownsConnection&&this.forwardConnectionEvents()}forQueue(t,n){let r=n??this.redisPrefix,i=new Qn(r);return new e(this.connection,t,i.getKeys(t),e=>i.toKey(t,e),Object.assign(Object.assign({},this.queue.opts),{prefix:r}),this.blockingConnection,!1)}get qualifiedName(){return`${this.redisPrefix}:${this.name}`}get keys(){return this.queue.keys}toKey(e){return this.queue.toKey(e)}parseNodeKey(e){let t=e.lastIndexOf(`:`),n=e.lastIndexOf(`:`,t-1);if(t===-1||n===-1){let[t=``,n=``,r=``]=e.split(`:`);return{prefix:t,queueName:n,id:r}}return{prefix:e.slice(0,n),queueName:e.slice(n+1,t),id:e.slice(t+1)}}clientName(e=``){let t=Buffer.from(this.name).toString(`base64`);return`${this.redisPrefix}:${t}${e}`}forwardConnectionEvents(){this.connection.on(`error`,e=>this.emit(`error`,e)),this.connection.on(`ready`,()=>this.emit(`ready`)),this.connection.on(`close`,()=>this.emit(`close`)),this.blockingConnection&&(this.blockingConnection.on(`error`,e=>this.emit(`error`,e)),this.blockingConnection.on(`ready`,()=>this.emit(`ready`)))}async waitUntilReady(){await this.connection.client,this.blockingConnection&&await this.blockingConnection.client}async close(e=!1){if(this.ownsConnection)return this.closing||=(async()=>{this.blockingConnection&&await this.blockingConnection.close(e),await this.connection.close(e)})(),this.closing}async disconnect(){this.ownsConnection&&(await this.connection.disconnect(),this.blockingConnection&&await this.blockingConnection.disconnect())}async setName(e){let t=await this.connection.client;try{await t.clientSetName(e)}catch(e){if(!lt.test(e.message)&&!this.closing)throw e}}get client(){return this.connection.client}get blockingClient(){return this.blockingConnection?.client}get redisVersion(){return this.connection.redisVersion}get databaseType(){return this.connection.databaseType}get minimumBlockTimeout(){return(this.blockingConnection??this.connection).capabilities.canBlockFor1Ms?.001:.002}get maximumBlockTimeout(){return 10}async disconnectBlocking(e=!0){this.blockingConnection&&await this.blockingConnection.disconnect(e)}async reconnectBlocking(){this.blockingConnection&&await this.blockingConnection.reconnect()}execCommand(e,t,n){let r=`${t}:${this.version}`;return e.runCommand(r,n)}async isJobInState(e,t){let n=await this.queue.client;if(e===`waiting`)return await this.isJobInState(`wait`,t)||await this.isJobInState(`paused`,t);if(e===`wait`||e===`active`||e===`paused`){let r=this.queue.toKey(e),i;return i=dt(this.queue.redisVersion,`6.0.6`,this.queue.databaseType)?await this.execCommand(n,`isJobInList`,[r,t]):await n.lpos(r,t),Number.isInteger(i)}if(e===`prioritized`||e===`completed`||e===`failed`||e===`delayed`||e===`waiting-children`)return await n.zscore(this.queue.toKey(e),t)!==null;throw Error(`Unknown job state: ${e}`)}addDelayedJobArgs(e,t,n,r=this.queue.keys){let i=r,a=[i.marker,i.meta,i.id,i.delayed,i.completed,i.events];return a.push($(n),e.data,t),a}addDelayedJob(e,t,n,r,i=this.queue.keys){let a=this.addDelayedJobArgs(t,n,r,i);return this.execCommand(e,`addDelayedJob`,a)}addPrioritizedJobArgs(e,t,n,r=this.queue.keys){let i=r,a=[i.marker,i.meta,i.id,i.prioritized,i.delayed,i.completed,i.active,i.events,i.pc];return a.push($(n),e.data,t),a}addPrioritizedJob(e,t,n,r,i=this.queue.keys){let a=this.addPrioritizedJobArgs(t,n,r,i);return this.execCommand(e,`addPrioritizedJob`,a)}addParentJobArgs(e,t,n,r=this.queue.keys){let i=r,a=[i.meta,i.id,i.delayed,i[`waiting-children`],i.completed,i.events];return a.push($(n),e.data,t),a}addParentJob(e,t,n,r,i=this.queue.keys){let a=this.addParentJobArgs(t,n,r,i);return this.execCommand(e,`addParentJob`,a)}addStandardJobArgs(e,t,n,r=this.queue.keys){let i=r,a=[i.wait,i.paused,i.meta,i.id,i.completed,i.delayed,i.active,i.events,i.marker];return a.push($(n),e.data,t),a}addStandardJob(e,t,n,r,i=this.queue.keys){let a=this.addStandardJobArgs(t,n,r,i);return this.execCommand(e,`addStandardJob`,a)}async addJobToTransaction(e,t,n,r={},i=this.queue.keys){let a=t.opts,o=i,s=t.parent,c=[o[``],n===void 0?``:n,t.name,t.timestamp,t.parentKey||null,r.parentDependenciesKey||null,s,t.repeatJobKey,t.deduplicationId?`${o.de}:${t.deduplicationId}`:null,r.deferParentRelease?1:null],l=$(ar(a)),u;if(u=r.addToWaitingChildren?await this.addParentJob(e,t,l,c,i):typeof a.delay==`number`&&a.delay>0?await this.addDelayedJob(e,t,l,c,i):a.priority?await this.addPrioritizedJob(e,t,l,c,i):await this.addStandardJob(e,t,l,c,i),u<0)throw this.finishedErrors({code:u,parentKey:r.parentKey,command:`addJob`});return u}async addJob(e,t,n={}){let r=await this.queue.client;return this.addJobToTransaction(r,e,t,n)}async addJobs(e){let t=(await this.queue.client).pipeline();for(let n of e)this.addJobToTransaction(t,n.job,n.jobId,n.parentKeyOpts);let n=await t.exec(),r=[];for(let[e,t]of n){if(e)throw e;r.push(t)}return r}async addFlow(e){let t=(await this.queue.client).multi(),n=/* @__PURE__ */ new Map;for(let r of e){let e=new Qn(r.prefix).getKeys(r.queueName);await this.addJobToTransaction(t,r.jobData,r.jobId,Object.assign(Object.assign({},r.parentKeyOpts),{deferParentRelease:!0}),e);let i=r.jobData.parent,a=r.parentKeyOpts?.parentKey;i&&a&&n.set(a,{parentId:i.id,parentKey:a,parentQueueKey:i.queueKey})}for(let{parentId:e,parentKey:r,parentQueueKey:i}of n.values())this.execCommand(t,`releaseParentIfNoPendingDependencies`,[r,`${r}:dependencies`,i,e,Date.now()]);let r=await t.exec();for(let[t]of r.slice(e.length))if(t)throw t;return r.slice(0,e.length)}pauseArgs(e,t=!0){let n=`wait`,r=`paused`;e||(n=`paused`,r=`wait`);let i=[n,r,`meta`,`prioritized`].map(e=>this.queue.toKey(e));i.push(this.queue.keys.events,this.queue.keys.delayed,this.queue.keys.marker);let a=[e?`paused`:`resumed`,t?`1`:`0`];return i.concat(a)}async pause(e){let t=await this.queue.client;if(e){let e=this.pauseArgs(!0);await this.execCommand(t,`pause`,e);return}let n=0,r=!0;do{let e=this.pauseArgs(!1,r);n=Number(await this.execCommand(t,`pause`,e)),r=!1}while(n>0)}async removeDeduplicationKey(e,t){let n=await this.queue.client,r=[`${this.queue.keys.de}:${e}`],i=[t];return this.execCommand(n,`removeDeduplicationKey`,r.concat(i))}async addJobScheduler(e,t,n,r,i,a,o){let s=await this.queue.client,c=this.queue.keys,l=[c.repeat,c.delayed,c.wait,c.paused,c.meta,c.prioritized,c.marker,c.id,c.events,c.pc,c.active],u=[t,$(i),e,n,$(ar(r)),$(ar(a)),Date.now(),c[``],o?this.queue.toKey(o):``],d=await this.execCommand(s,`addJobScheduler`,l.concat(u));if(typeof d==`number`&&d<0)throw this.finishedErrors({code:d,command:`addJobScheduler`});return d}async updateJobSchedulerNextMillis(e,t,n,r,i){let a=await this.queue.client,o=this.queue.keys,s=[o.repeat,o.delayed,o.wait,o.paused,o.meta,o.prioritized,o.marker,o.id,o.events,o.pc,i?this.queue.toKey(i):``,o.active],c=[t,e,n,$(ar(r)),Date.now(),o[``],i];return this.execCommand(a,`updateJobScheduler`,s.concat(c))}async removeJobScheduler(e){let t=await this.queue.client,n=this.queue.keys,r=[n.repeat,n.delayed,n.events],i=[e,n[``]];return this.execCommand(t,`removeJobScheduler`,r.concat(i))}removeArgs(e,t){let n=[e,`repeat`].map(e=>this.queue.toKey(e)),r=[e,+!!t,this.queue.toKey(``)];return n.concat(r)}async remove(e,t){let n=await this.queue.client,r=this.removeArgs(e,t),i=await this.execCommand(n,`removeJob`,r);if(i<0)throw this.finishedErrors({code:i,jobId:e,command:`removeJob`});return i}async removeUnprocessedChildren(e){let t=await this.queue.client,n=[this.queue.toKey(e),this.queue.keys.meta,this.queue.toKey(``),e];await this.execCommand(t,`removeUnprocessedChildren`,n)}async extendLock(e,t,n,r){r||=await this.queue.client;let i=[this.queue.toKey(e)+`:lock`,this.queue.keys.stalled,t,n,e];return this.execCommand(r,`extendLock`,i)}async extendLocks(e,t,n){let r=await this.queue.client,i=[this.queue.keys.stalled,this.queue.toKey(``),$(t),$(e),n];return this.execCommand(r,`extendLocks`,i)}async updateData(e,t){let n=await this.queue.client,r=[this.queue.toKey(e.id)],i=JSON.stringify(t),a=await this.execCommand(n,`updateData`,r.concat([i]));if(a<0)throw this.finishedErrors({code:a,jobId:e.id,command:`updateData`})}async updateProgress(e,t){let n=await this.queue.client,r=[this.queue.toKey(e),this.queue.keys.events,this.queue.keys.meta],i=JSON.stringify(t),a=await this.execCommand(n,`updateProgress`,r.concat([e,i]));if(a<0)throw this.finishedErrors({code:a,jobId:e,command:`updateProgress`})}async addLog(e,t,n){let r=await this.queue.client,i=[this.queue.toKey(e),this.queue.toKey(e)+`:logs`],a=await this.execCommand(r,`addLog`,i.concat([e,t,n||``]));if(a<0)throw this.finishedErrors({code:a,jobId:e,command:`addLog`});return a}moveToFinishedArgs(e,t,n,r,i,a,o,s=!0,c){let l=this.queue.keys,u=this.queue.opts,d=i===`completed`?u.removeOnComplete:u.removeOnFail,f=this.queue.toKey(`metrics:${i}`),p=this.moveToFinishedKeys;p[10]=l[i],p[11]=this.queue.toKey(e.id??``),p[12]=f,p[13]=this.queue.keys.marker;let m=this.getKeepJobs(r,d),h=[e.id,o,n,t===void 0?`null`:t,i,!s||this.queue.closing?0:1,l[``],$({token:a,name:u.name,keepJobs:m,limiter:u.limiter,lockDuration:u.lockDuration,attempts:e.opts.attempts,maxMetricsSize:u.metrics?.maxDataPoints?u.metrics?.maxDataPoints:``,fpof:!!e.opts?.failParentOnFailure,cpof:!!e.opts?.continueParentOnFailure,idof:!!e.opts?.ignoreDependencyOnFailure,rdof:!!e.opts?.removeDependencyOnFailure}),c?$($e(c)):void 0];return p.concat(h)}getKeepJobs(e,t){return e===void 0?t||{count:e?0:-1}:typeof e==`object`?e:typeof e==`number`?{count:e}:{count:e?0:-1}}async moveToFinished(e,t){let n=await this.queue.client,r=await this.execCommand(n,`moveToFinished`,t);if(r<0)throw this.finishedErrors({code:r,jobId:e,command:`moveToFinished`,state:`active`});if(r!==void 0)return nr(r)}drainArgs(e){let t=this.queue.keys,n=[t.wait,t.paused,t.delayed,t.prioritized,t.repeat],r=[t[``],e?`1`:`0`];return n.concat(r)}async drain(e){let t=await this.queue.client,n=this.drainArgs(e);return this.execCommand(t,`drain`,n)}removeChildDependencyArgs(e,t){let n=[this.queue.keys[``]],r=[this.queue.toKey(e),t];return n.concat(r)}async removeChildDependency(e,t){let n=await this.queue.client,r=this.removeChildDependencyArgs(e,t),i=await this.execCommand(n,`removeChildDependency`,r);switch(i){case 0:return!0;case 1:return!1;default:throw this.finishedErrors({code:i,jobId:e,parentKey:t,command:`removeChildDependency`})}}getRangesArgs(e,t,n,r){let i=this.queue.keys,a=e.map(e=>e===`waiting`?`wait`:e),o=[i[``]],s=[t,n,r?`1`:`0`,...a];return o.concat(s)}async getRanges(e,t=0,n=1,r=!1){let i=await this.queue.client,a=this.getRangesArgs(e,t,n,r);return await this.execCommand(i,`getRanges`,a)}getJobsArgs(e,t,n,r){let i=this.queue.keys,a=[...new Set(e.map(e=>e===`waiting`?`wait`:e))],o=[i[``]],s=[t,n,r?`1`:`0`,5,...a];return o.concat(s)}async getJobs(e,t=0,n=-1,r=!1){let i=await this.queue.client,a=this.getJobsArgs(e,t,n,r);return await this.execCommand(i,`getJobs`,a)}getCountsArgs(e,t){let n=this.queue.keys,r=e.map(e=>e===`waiting`?`wait`:e),i=[n[``]],a=t===void 0?r:[t,...r];return i.concat(a)}async getCounts(e,t){let n=await this.queue.client,r=this.getCountsArgs(e,t);return await this.execCommand(n,`getCounts`,r)}getCountsPerPriorityArgs(e){let t=[this.queue.keys.wait,this.queue.keys.prioritized],n=e;return t.concat(n)}async getCountsPerPriority(e){let t=await this.queue.client,n=this.getCountsPerPriorityArgs(e);return await this.execCommand(t,`getCountsPerPriority`,n)}getDependencyCountsArgs(e,t){let n=[`${e}:processed`,`${e}:dependencies`,`${e}:failed`,`${e}:unsuccessful`].map(e=>this.queue.toKey(e)),r=t;return n.concat(r)}async getDependencyCounts(e,t){let n=await this.queue.client,r=this.getDependencyCountsArgs(e,t);return await this.execCommand(n,`getDependencyCounts`,r)}moveToCompletedArgs(e,t,n,r,i=!1){let a=Date.now();return this.moveToFinishedArgs(e,t,`returnvalue`,n,`completed`,r,a,i)}moveToFailedArgs(e,t,n,r,i=!1,a){let o=Date.now();return this.moveToFinishedArgs(e,t,`failedReason`,n,`failed`,r,o,i,a)}async isFinished(e,t=!1){let n=await this.queue.client,r=[`completed`,`failed`,e].map(e=>this.queue.toKey(e));return this.execCommand(n,`isFinished`,r.concat([e,t?`1`:``]))}async getState(e){let t=await this.queue.client,n=[`completed`,`failed`,`delayed`,`active`,`wait`,`paused`,`waiting-children`,`prioritized`].map(e=>this.queue.toKey(e));return dt(this.queue.redisVersion,`6.0.6`,this.queue.databaseType)?this.execCommand(t,`getState`,n.concat([e])):this.execCommand(t,`getStateV2`,n.concat([e]))}async changeDelay(e,t){let n=await this.queue.client,r=this.changeDelayArgs(e,t),i=await this.execCommand(n,`changeDelay`,r);if(i<0)throw this.finishedErrors({code:i,jobId:e,command:`changeDelay`,state:`delayed`})}changeDelayArgs(e,t){let n=Date.now();return[this.queue.keys.delayed,this.queue.keys.meta,this.queue.keys.marker,this.queue.keys.events,t,JSON.stringify(n),e,this.queue.toKey(e)]}async changePriority(e,t=0,n=!1){let r=await this.queue.client,i=this.changePriorityArgs(e,t,n),a=await this.execCommand(r,`changePriority`,i);if(a<0)throw this.finishedErrors({code:a,jobId:e,command:`changePriority`})}changePriorityArgs(e,t=0,n=!1){return[this.queue.keys.wait,this.queue.keys.paused,this.queue.keys.meta,this.queue.keys.prioritized,this.queue.keys.active,this.queue.keys.pc,this.queue.keys.marker,t,this.queue.toKey(``),e,+!!n]}moveToDelayedArgs(e,t,n,r,i={}){let a=this.queue.keys,o=this.queue.opts,s=[a.marker,a.active,a.prioritized,a.delayed,this.queue.toKey(e),a.events,a.meta,a.stalled,a.wait,a.limiter,a.pc],c=i.fetchNext&&!this.queue.closing?1:0;return s.concat([this.queue.keys[``],t,e,n,r,i.skipAttempt?`1`:`0`,i.fieldsToUpdate?$($e(i.fieldsToUpdate)):void 0,c,c?$({token:n,lockDuration:o.lockDuration,limiter:o.limiter,name:o.name}):void 0])}moveToWaitingChildrenArgs(e,t,n){let r=Date.now(),i=ct(n.child);return[`active`,`waiting-children`,e,`${e}:dependencies`,`${e}:unsuccessful`,`stalled`,`events`].map(e=>this.queue.toKey(e)).concat([t,i??``,JSON.stringify(r),e,this.queue.toKey(``)])}isMaxedArgs(){let e=this.queue.keys;return[e.meta,e.active]}async isMaxed(){let e=await this.queue.client,t=this.isMaxedArgs();return!!await this.execCommand(e,`isMaxed`,t)}async moveToDelayed(e,t,n,r=`0`,i={}){let a=await this.queue.client,o=this.moveToDelayedArgs(e,t,r,n,i),s=await this.execCommand(a,`moveToDelayed`,o);if(s<0)throw this.finishedErrors({code:s,jobId:e,command:`moveToDelayed`,state:`active`});if(s!==void 0)return nr(s)}async moveToWaitingChildren(e,t,n={}){let r=await this.queue.client,i=this.moveToWaitingChildrenArgs(e,t,n),a=await this.execCommand(r,`moveToWaitingChildren`,i);switch(a){case 0:return!0;case 1:return!1;default:throw this.finishedErrors({code:a,jobId:e,command:`moveToWaitingChildren`,state:`active`})}}getRateLimitTtlArgs(e){return[this.queue.keys.limiter,this.queue.keys.meta,e??`0`]}async getRateLimitTtl(e){let t=await this.queue.client,n=this.getRateLimitTtlArgs(e);return this.execCommand(t,`getRateLimitTtl`,n)}async cleanJobsByState(e,t,n=0){let r=await this.queue.client;return this.execCommand(r,`cleanJobsInSet`,[this.queue.toKey(e),this.queue.toKey(`events`),this.queue.toKey(`repeat`),this.queue.toKey(``),t,n,e])}getJobSchedulerArgs(e){return[this.queue.keys.repeat,e]}async getJobScheduler(e){let t=await this.queue.client,n=this.getJobSchedulerArgs(e);return this.execCommand(t,`getJobScheduler`,n)}async isJobScheduler(e){return await(await this.queue.client).hexists(`${this.queue.keys.repeat}:${e}`,`ic`)===1}async getJobSchedulerData(e){return(await this.queue.client).hgetall(this.queue.toKey(`repeat:`+e))}async getJobSchedulersRange(e,t,n){let r=await this.queue.client,i=this.queue.keys.repeat;return n?r.zrange(i,e,t,{WITHSCORES:!0}):r.zrevrange(i,e,t,{WITHSCORES:!0})}async getJobSchedulersCount(){return(await this.queue.client).zcard(this.queue.keys.repeat)}retryJobArgs(e,t,n,r={}){let i=[this.queue.keys.active,this.queue.keys.wait,this.queue.keys.paused,this.queue.toKey(e),this.queue.keys.meta,this.queue.keys.events,this.queue.keys.delayed,this.queue.keys.prioritized,this.queue.keys.pc,this.queue.keys.marker,this.queue.keys.stalled],a=(t?`R`:`L`)+`PUSH`;return i.concat([this.queue.toKey(``),Date.now(),a,e,n,r.fieldsToUpdate?$($e(r.fieldsToUpdate)):void 0])}async retryJob(e,t,n=`0`,r={}){let i=await this.queue.client,a=this.retryJobArgs(e,t,n,r),o=await this.execCommand(i,`retryJob`,a);if(o<0)throw this.finishedErrors({code:o,jobId:e,command:`retryJob`,state:`active`})}moveJobsToWaitArgs(e,t,n){let r=[this.queue.toKey(``),this.queue.keys.events,this.queue.toKey(e),this.queue.toKey(`wait`),this.queue.toKey(`paused`),this.queue.keys.meta,this.queue.keys.active,this.queue.keys.marker],i=[t,n,e];return r.concat(i)}async retryFinishedJobs(e=`failed`,t=1e3,n=(/* @__PURE__ */ new Date()).getTime()){let r=await this.queue.client,i=this.moveJobsToWaitArgs(e,t,n);return this.execCommand(r,`moveJobsToWait`,i)}async promoteJobs(e=1e3){let t=await this.queue.client,n=this.moveJobsToWaitArgs(`delayed`,e,Number.MAX_VALUE);return this.execCommand(t,`moveJobsToWait`,n)}async retryFinishedJob(e,t,n={}){let r=await this.queue.client,i=[this.queue.toKey(e.id),this.queue.keys.events,this.queue.toKey(t),this.queue.keys.wait,this.queue.keys.meta,this.queue.keys.active,this.queue.keys.marker,this.queue.keys.prioritized,this.queue.keys.pc],a=[e.id,(e.opts.lifo?`R`:`L`)+`PUSH`,t===`failed`?`failedReason`:`returnvalue`,t,n.resetAttemptsMade?`1`:`0`,n.resetAttemptsStarted?`1`:`0`],o=await this.execCommand(r,`reprocessJob`,i.concat(a));switch(o){case 1:return;default:throw this.finishedErrors({code:o,jobId:e.id,command:`reprocessJob`,state:t})}}async getMetrics(e,t=0,n=-1){let r=await this.queue.client,i=[this.queue.toKey(`metrics:${e}`),this.queue.toKey(`metrics:${e}:data`)],a=[t,n];return await this.execCommand(r,`getMetrics`,i.concat(a))}async getClientList(){let e=await this.queue.client;if(e.isCluster&&typeof e.nodes==`function`){let t=e.nodes()||[];return Promise.all(t.map(e=>typeof e.clientList==`function`?e.clientList():e.client(`LIST`)))}return[await e.clientList()]}async moveToActive(e,t){let n=await this.queue.client,r=this.queue.opts,i=this.queue.keys,a=[i.wait,i.active,i.prioritized,i.events,i.stalled,i.limiter,i.delayed,i.paused,i.meta,i.pc,i.marker],o=[i[``],Date.now(),$({token:e,lockDuration:r.lockDuration,limiter:r.limiter,name:t})];return nr(await this.execCommand(n,`moveToActive`,a.concat(o)))}async promote(e){let t=await this.queue.client,n=[this.queue.keys.delayed,this.queue.keys.wait,this.queue.keys.paused,this.queue.keys.meta,this.queue.keys.prioritized,this.queue.keys.active,this.queue.keys.pc,this.queue.keys.events,this.queue.keys.marker],r=[this.queue.toKey(``),e],i=await this.execCommand(t,`promote`,n.concat(r));if(i<0)throw this.finishedErrors({code:i,jobId:e,command:`promote`,state:`delayed`})}moveStalledJobsToWaitArgs(){let e=this.queue.opts,t=[this.queue.keys.stalled,this.queue.keys.wait,this.queue.keys.active,this.queue.keys[`stalled-check`],this.queue.keys.meta,this.queue.keys.paused,this.queue.keys.marker,this.queue.keys.events,this.queue.keys.repeat],n=[e.maxStalledCount,this.queue.toKey(``),Date.now(),e.stalledInterval];return t.concat(n)}async moveStalledJobsToWait(){let e=await this.queue.client,t=this.moveStalledJobsToWaitArgs();return this.execCommand(e,`moveStalledJobsToWait`,t)}async moveJobFromActiveToWait(e,t=`0`){let n=await this.queue.client,r=[this.queue.keys.active,this.queue.keys.wait,this.queue.keys.stalled,this.queue.keys.paused,this.queue.keys.meta,this.queue.keys.limiter,this.queue.keys.prioritized,this.queue.keys.marker,this.queue.keys.events],i=[e,t,this.queue.toKey(e)],a=await this.execCommand(n,`moveJobFromActiveToWait`,r.concat(i));if(a<0)throw this.finishedErrors({code:a,jobId:e,command:`moveJobFromActiveToWait`,state:`active`});return a}async obliterate(e){let t=await this.queue.client,n=[this.queue.keys.meta,this.queue.toKey(``)],r=[e.count,e.force?`force`:null],i=await this.execCommand(t,`obliterate`,n.concat(r));if(i<0)switch(i){case-1:throw Error(`Cannot obliterate non-paused queue`);case-2:throw Error(`Cannot obliterate queue with active jobs`)}return i}async paginate(e,t){let n=await this.queue.client,r=[e],i=t.end>=0?t.end-t.start+1:1/0,a=`0`,o=0,s,c,l,u=[],d=[];do{let e=[t.start+u.length,t.end,a,o,5];t.fetchJobs&&e.push(1),[a,o,s,c,l]=await this.execCommand(n,`paginate`,r.concat(e)),u=u.concat(s),l&&l.length&&(d=d.concat(l.map(e=>ir(Qe(e)))))}while(a!=`0`&&u.length<i);if(u.length&&Array.isArray(u[0])){let e=[];for(let t=0;t<u.length;t++){let[n,r]=u[t];try{e.push({id:n,v:JSON.parse(r)})}catch(t){e.push({id:n,err:t.message})}}return{cursor:a,items:e,total:c,jobs:d}}return{cursor:a,items:u.map(e=>({id:e})),total:c,jobs:d}}finishedErrors({code:e,jobId:t,parentKey:n,command:r,state:i}){return Zn({code:e,jobId:t,parentKey:n,command:r,state:i})}async removeOrphanedJobsBatch(e,t,n){let r=await this.queue.client,i=[this.queue.toKey(``),t.length,...t,n.length,...n,...e];return this.execCommand(r,`removeOrphanedJobs`,i)}async removeOrphanedJobs(e=1e3,t=0){let n=await this.queue.client,r=this.queue.keys,i=new Set(Object.keys(r)),a=Object.keys(r).filter(e=>e!==``),o=[`logs`,`dependencies`,`processed`,`failed`,`unsuccessful`,`lock`],s=r[``],c=s+`*`,l=0,u=`0`;do{let[r,d]=await n.scan(u,{MATCH:c,COUNT:e});u=r;let f=/* @__PURE__ */ new Set;for(let e of d){let t=e.slice(s.length);if(i.has(t))continue;let n=t.indexOf(`:`);if(n!==-1){let e=t.slice(0,n);if(i.has(e))continue}let r=n===-1?t:t.slice(0,n);if(n!==-1){let e=t.slice(n+1);if(!o.includes(e))continue}f.add(r)}if(f.size===0)continue;let p=await this.removeOrphanedJobsBatch([...f],a,o);if(l+=p||0,t>0&&l>=t)break}while(u!==`0`);return l}async moveToCompleted(e,t,n,r,i){let a=Ye(JSON.stringify,JSON,[t]);if(a===Je)throw Je.value;let o=this.moveToCompletedArgs(e,a,n,r,i);return{result:await this.moveToFinished(e.id,o),finishedOn:o[this.moveToFinishedKeys.length+1]}}async moveToFailed(e,t,n,r,i,a){let o=this.moveToFailedArgs(e,t,n,r,i,a);return{result:await this.moveToFinished(e.id,o),finishedOn:o[this.moveToFinishedKeys.length+1]}}async getJobData(e){let t=await(await this.queue.client).hgetall(this.queue.toKey(e));return Ze(t)?void 0:ir(t)}async getDeduplicationJobId(e){return(await this.queue.client).get(`${this.queue.keys.de}:${e}`)}async getJobLogs(e,t,n,r){let i=(await this.queue.client).multi(),a=this.queue.toKey(e+`:logs`);r?i.lrange(a,t,n):i.lrange(a,-(n+1),-(t+1)),i.llen(a);let o=await i.exec();return r||o[0][1].reverse(),{logs:o[0][1],count:o[1][1]}}async clearLogs(e,t){let n=await this.queue.client,r=this.queue.toKey(e)+`:logs`;t?await n.ltrim(r,-t,-1):await n.del(r)}async getProcessedChildrenValues(e){return await(await this.queue.client).hgetall(this.queue.toKey(`${e}:processed`))}async getIgnoredChildrenFailures(e){return(await this.queue.client).hgetall(this.queue.toKey(`${e}:failed`))}async getDependencies(e,t={}){let n=(await this.queue.client).pipeline();if(!t.processed&&!t.unprocessed&&!t.ignored&&!t.failed){n.hgetall(this.queue.toKey(`${e}:processed`)),n.smembers(this.queue.toKey(`${e}:dependencies`)),n.hgetall(this.queue.toKey(`${e}:failed`)),n.zrange(this.queue.toKey(`${e}:unsuccessful`),0,-1);let[[t,r],[i,a],[o,s],[c,l]]=await n.exec();return{processed:ft(r),unprocessed:a,failed:l,ignored:s}}{let r={cursor:0,count:20},i=[];if(t.processed){i.push(`processed`);let a=Object.assign(Object.assign({},r),t.processed);n.hscan(this.queue.toKey(`${e}:processed`),a.cursor,{COUNT:a.count})}if(t.unprocessed){i.push(`unprocessed`);let a=Object.assign(Object.assign({},r),t.unprocessed);n.sscan(this.queue.toKey(`${e}:dependencies`),a.cursor,{COUNT:a.count})}if(t.ignored){i.push(`ignored`);let a=Object.assign(Object.assign({},r),t.ignored);n.hscan(this.queue.toKey(`${e}:failed`),a.cursor,{COUNT:a.count})}let a;if(t.failed){i.push(`failed`);let o=Object.assign(Object.assign({},r),t.failed);a=o.cursor+o.count,n.zrange(this.queue.toKey(`${e}:unsuccessful`),o.cursor,o.count-1)}let o=await n.exec(),s,c,l,u,d,f,p;return i.forEach((e,t)=>{switch(e){case`processed`:{s=o[t][1][0];let e=o[t][1][1],n={};for(let t=0;t<e.length;++t)t%2&&(n[e[t-1]]=JSON.parse(e[t]));c=n;break}case`failed`:d=o[t][1];break;case`ignored`:{f=o[t][1][0];let e=o[t][1][1],n={};for(let t=0;t<e.length;++t)t%2&&(n[e[t-1]]=e[t]);p=n;break}case`unprocessed`:l=o[t][1][0],u=o[t][1][1]}}),Object.assign(Object.assign(Object.assign(Object.assign({},s?{processed:c,nextProcessedCursor:Number(s)}:{}),f?{ignored:p,nextIgnoredCursor:Number(f)}:{}),a?{failed:d,nextFailedCursor:a}:{}),l?{unprocessed:u,nextUnprocessedCursor:Number(l)}:{})}}async setQueueMeta(e){return(await this.queue.client).hset(this.queue.keys.meta,e)}async getQueueMetaField(e){return(await this.queue.client).hget(this.queue.keys.meta,e)}async getQueueMetaFields(e){return(await this.queue.client).hmget(this.queue.keys.meta,...e)}async getQueueMeta(){return(await this.queue.client).hgetall(this.queue.keys.meta)}async removeQueueMetaFields(e){return(await this.queue.client).hdel(this.queue.keys.meta,...e)}async hasQueueMetaField(e){return await(await this.queue.client).hexists(this.queue.keys.meta,e)===1}async setRateLimit(e){await(await this.queue.client).set(this.queue.keys.limiter,2**53-1,{PX:e})}async removeRateLimitKey(){return(await this.queue.client).del(this.queue.keys.limiter)}async removeDeprecatedPriorityKey(){return(await this.queue.client).del(this.queue.toKey(`priority`))}async deleteDeduplicationKey(e){return(await this.queue.client).del(`${this.queue.keys.de}:${e}`)}async trimEvents(e){return(await this.queue.client).xtrim(this.queue.keys.events,`MAXLEN`,e,{approximate:!0})}async waitForJob(e){let t=this.blockingConnection??this.connection,n=await this.queue.blockingClient,r=t.capabilities.canDoubleTimeout?e:Math.ceil(e),i=n.bzpopmin(this.queue.keys.marker,r);i.catch(()=>null);let a=!1,o,s=new Promise(e=>{o=setTimeout(()=>{a=!0,e(null)},r*1e3+1e3)});try{let e=await Promise.race([i,s]);if(e){let[,t,n]=e;if(t)return{member:t,score:parseInt(n)}}return null}finally{if(clearTimeout(o),a&&!this.closing)try{await er(this.blockingConnection??this.connection,n,()=>this.reconnectBlocking())}catch{}}}async publishEvent(e,t){return(await this.queue.client).xadd(this.queue.keys.events,`*`,e,{MAXLEN:t,approximate:!0})}async readEvents(e,t){let n=await this.queue.client,r=n.xread([{key:this.queue.keys.events,id:e}],{BLOCK:t});if(t<=0)return r;r.catch(()=>null);let i=!1,a,o=new Promise(e=>{a=setTimeout(()=>{i=!0,e(null)},t+1e3)});try{return await Promise.race([r,o])}finally{if(clearTimeout(a),i&&!this.closing)try{await er(this.connection,n,()=>this.connection.reconnect())}catch{}}}};function nr(e){if(e){let t=[null,e[1],e[2],e[3]];return e[0]&&(t[0]=ir(Qe(e[0]))),t}return[]}function rr(e,t=rt){let n=JSON.parse(e||`{}`),r=Object.entries(n),i={};for(let e of r){let[n,r]=e;t[n]?i[t[n]]=r:n===`tm`?i.telemetry=Object.assign(Object.assign({},i.telemetry),{metadata:r}):n===`omc`?i.telemetry=Object.assign(Object.assign({},i.telemetry),{omitContext:r}):i[n]=r}return i}function ir(e){return{id:e.id,name:e.name,data:e.data||`{}`,opts:rr(e.opts),progress:JSON.parse(e.progress||`0`),delay:parseInt(e.delay),priority:parseInt(e.priority),timestamp:parseInt(e.timestamp),attemptsStarted:parseInt(e.ats||`0`),attemptsMade:parseInt(e.attemptsMade||e.atm||`0`),stalledCounter:parseInt(e.stc||`0`),finishedOn:e.finishedOn?parseInt(e.finishedOn):void 0,processedOn:e.processedOn?parseInt(e.processedOn):void 0,repeatJobKey:e.rjk,debounceId:e.deid,deduplicationId:e.deid,failedReason:e.failedReason,deferredFailure:e.defa,stacktrace:e.stacktrace,returnvalue:e.returnvalue,parentKey:e.parentKey,parent:e.parent?JSON.parse(e.parent):void 0,processedBy:e.pb}}function ar(e={},t=it){let n=Object.entries(e),r={};for(let[e,i]of n)if(i!==void 0){if(e in t){let n=t[e];r[n]=i}else e===`telemetry`?(i.metadata!==void 0&&(r.tm=i.metadata),i.omitContext!==void 0&&(r.omc=i.omitContext)):r[e]=i}return r}function or(e,t){var n={};for(var r in e)Object.prototype.hasOwnProperty.call(e,r)&&t.indexOf(r)<0&&(n[r]=e[r]);if(e!=null&&typeof Object.getOwnPropertySymbols==`function`)for(var i=0,r=Object.getOwnPropertySymbols(e);i<r.length;i++)t.indexOf(r[i])<0&&Object.prototype.propertyIsEnumerable.call(e,r[i])&&(n[r[i]]=e[r[i]]);return n}const sr={name:`addLog`,content:`--[[
  Add job log
  Input:
    KEYS[1] job id key
    KEYS[2] job logs key
    ARGV[1] id
    ARGV[2] log
    ARGV[3] keepLogs
  Output:
    -1 - Missing job.
]]
local rcall = redis.call
if rcall("EXISTS", KEYS[1]) == 1 then -- // Make sure job exists
  local logCount = rcall("RPUSH", KEYS[2], ARGV[2])
  if ARGV[3] ~= '' then
    local keepLogs = tonumber(ARGV[3])
    rcall("LTRIM", KEYS[2], -keepLogs, -1)
    return math.min(keepLogs, logCount)
  end
  return logCount
else
  return -1
end
`,keys:2},cr={name:`addStandardJob`,content:`--[[
  Adds a job to the queue by doing the following:
    - Increases the job counter if needed.
    - Creates a new job key with the job data.
    - if delayed:
      - computes timestamp.
      - adds to delayed zset.
      - Emits a global event 'delayed' if the job is delayed.
    - if not delayed
      - Adds the jobId to the wait/paused list in one of three ways:
         - LIFO
         - FIFO
         - prioritized.
      - Adds the job to the "added" list so that workers gets notified.
    Input:
      KEYS[1] 'wait',
      KEYS[2] 'paused'
      KEYS[3] 'meta'
      KEYS[4] 'id'
      KEYS[5] 'completed'
      KEYS[6] 'delayed'
      KEYS[7] 'active'
      KEYS[8] events stream key
      KEYS[9] marker key
      ARGV[1] msgpacked arguments array
            [1]  key prefix,
            [2]  custom id (will not generate one automatically)
            [3]  name
            [4]  timestamp
            [5]  parentKey?
            [6]  parent dependencies key.
            [7]  parent? {id, queueKey}
            [8]  repeat job key
            [9] deduplication key
            [10] defer parent release (flow inserts)
      ARGV[2] Json stringified job data
      ARGV[3] msgpacked options
      Output:
        jobId  - OK
        -5     - Missing parent key
]]
local waitKey = KEYS[1]
local metaKey = KEYS[3]
local activeKey = KEYS[7]
local eventsKey = KEYS[8]
local jobId
local jobIdKey
local rcall = redis.call
local args = cmsgpack.unpack(ARGV[1])
local data = ARGV[2]
local opts = cmsgpack.unpack(ARGV[3])
local parentKey = args[5]
local parent = args[7]
local repeatJobKey = args[8]
local deduplicationKey = args[9]
local deferParentRelease = args[10]
local parentData
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to debounce a job.
]]
-- Includes
--[[
  Adds a delayed job to the queue by doing the following:
    - Creates a new job key with the job data.
    - adds to delayed zset.
    - Emits a global event 'delayed' if the job is delayed.
]]
-- Includes
--[[
  Add delay marker if needed.
]]
-- Includes
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
local function addDelayMarkerIfNeeded(markerKey, delayedKey)
  local nextTimestamp = getNextDelayedTimestamp(delayedKey)
  if nextTimestamp ~= nil then
    -- Replace the score of the marker with the newest known
    -- next timestamp.
    rcall("ZADD", markerKey, nextTimestamp, "1")
  end
end
--[[
  Bake in the job id first 12 bits into the timestamp
  to guarantee correct execution order of delayed jobs
  (up to 4096 jobs per given timestamp or 4096 jobs apart per timestamp)
  WARNING: Jobs that are so far apart that they wrap around will cause FIFO to fail
]]
local function getDelayedScore(delayedKey, timestamp, delay)
  local delayedTimestamp = (delay > 0 and (tonumber(timestamp) + delay)) or tonumber(timestamp)
  local minScore = delayedTimestamp * 0x1000
  local maxScore = (delayedTimestamp + 1 ) * 0x1000 - 1
  local result = rcall("ZREVRANGEBYSCORE", delayedKey, maxScore,
    minScore, "WITHSCORES","LIMIT", 0, 1)
  if #result then
    local currentMaxScore = tonumber(result[2])
    if currentMaxScore ~= nil then
      if currentMaxScore >= maxScore then
        return maxScore, delayedTimestamp
      else
        return currentMaxScore + 1, delayedTimestamp
      end
    end
  end
  return minScore, delayedTimestamp
end
local function addDelayedJob(jobId, delayedKey, eventsKey, timestamp,
  maxEvents, markerKey, delay)
  local score, delayedTimestamp = getDelayedScore(delayedKey, timestamp, tonumber(delay))
  rcall("ZADD", delayedKey, score, jobId)
  rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "delayed",
    "jobId", jobId, "delay", delayedTimestamp)
  -- mark that a delayed job is available
  addDelayMarkerIfNeeded(markerKey, delayedKey)
end
--[[
  Function to deduplicate a job.
]]
--[[
  Function to recover a stale deduplication key.
  When the existing deduplication key has no expiry (simple mode, or
  keepLastIfActive after the key was persisted), it should disappear
  when the winning job finishes. If that job key no longer exists
  because of an outage, the deduplication key is stale, so we discard it
  and start a new deduplication window with the incoming job.
  Returns true if the stale key was recovered, false otherwise.
]]
--[[
  Function to set the deduplication key for a job.
  Uses TTL from deduplication opts if provided.
]]
local function setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
    local ttl = deduplicationOpts and deduplicationOpts['ttl']
    if ttl and ttl > 0 then
        rcall('SET', deduplicationKey, jobId, 'PX', ttl)
    else
        rcall('SET', deduplicationKey, jobId)
    end
end
local function recoverStaleDeduplicationKey(deduplicationKey, prefix, currentDeduplicatedJobId, jobId,
    deduplicationId, deduplicationOpts)
    if currentDeduplicatedJobId and rcall('PTTL', deduplicationKey) == -1 and
        rcall('EXISTS', prefix .. currentDeduplicatedJobId) == 0 then
        rcall('DEL', deduplicationKey)
        -- Discard any pending next-job payload stored for the stale winner,
        -- otherwise it would be resurrected when this job finalizes.
        rcall('DEL', prefix .. "dn:" .. deduplicationId)
        if deduplicationOpts['keepLastIfActive'] then
            rcall('SET', deduplicationKey, jobId)
        else
            setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
        end
        return true
    end
    return false
end
--[[
  Function to store a deduplicated next job if the existing job is active
  and keepLastIfActive is set. When the active job finishes, the stored
  proto-job is used to create a real job in the queue.
  Returns true if the proto-job was stored, false otherwise.
]]
--[[
  Function to check if an item belongs to a list.
]]
local function checkItemInList(list, item)
  for _, v in pairs(list) do
    if v == item then
      return 1
    end
  end
  return nil
end
local function storeDeduplicatedNextJob(deduplicationOpts, currentDeduplicatedJobId, prefix,
    deduplicationId, jobName, jobData, fullOpts, eventsKey, maxEvents, jobId,
    parentKey, parentData, parentDependenciesKey, repeatJobKey)
    if deduplicationOpts['keepLastIfActive'] and currentDeduplicatedJobId then
        local activeKey = prefix .. "active"
        local pos = redis.pcall('LPOS', activeKey, currentDeduplicatedJobId)
        if type(pos) == 'table' and pos.err then
            pos = checkItemInList(rcall('LRANGE', activeKey, 0, -1), currentDeduplicatedJobId)
        end
        if pos then
            local deduplicationNextKey = prefix .. "dn:" .. deduplicationId
            local fields = {'name', jobName, 'data', jobData, 'opts', cjson.encode(fullOpts),
                'jid', jobId}
            if parentKey then
                fields[#fields+1] = 'pk'
                fields[#fields+1] = parentKey
            end
            if parentData then
                fields[#fields+1] = 'pd'
                fields[#fields+1] = parentData
            end
            if parentDependenciesKey then
                fields[#fields+1] = 'pdk'
                fields[#fields+1] = parentDependenciesKey
            end
            if repeatJobKey then
                fields[#fields+1] = 'rjk'
                fields[#fields+1] = repeatJobKey
            end
            rcall('DEL', deduplicationNextKey)
            rcall('HSET', deduplicationNextKey, unpack(fields))
            -- Ensure the dedup key does not expire while the job is active,
            -- so subsequent adds always hit the dedup path and never bypass
            -- the active-check because of a TTL expiry.
            local deduplicationKey = prefix .. "de:" .. deduplicationId
            rcall('PERSIST', deduplicationKey)
            rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "deduplicated", "jobId",
                currentDeduplicatedJobId, "deduplicationId", deduplicationId, "deduplicatedJobId", jobId)
            return true
        end
    end
    return false
end
local function deduplicateJobWithoutReplace(deduplicationId, deduplicationOpts, jobId, deduplicationKey,
    eventsKey, maxEvents, prefix, jobName, jobData, fullOpts,
    parentKey, parentData, parentDependenciesKey, repeatJobKey)
    local ttl = deduplicationOpts['ttl']
    local deduplicationKeyExists
    if ttl and ttl > 0 then
        if deduplicationOpts['extend'] then
            local currentDeduplicatedJobId = rcall('GET', deduplicationKey)
            if currentDeduplicatedJobId then
                if recoverStaleDeduplicationKey(deduplicationKey, prefix, currentDeduplicatedJobId,
                    jobId, deduplicationId, deduplicationOpts) then
                    return
                end
                if storeDeduplicatedNextJob(deduplicationOpts, currentDeduplicatedJobId, prefix,
                    deduplicationId, jobName, jobData, fullOpts, eventsKey, maxEvents, jobId,
                    parentKey, parentData, parentDependenciesKey, repeatJobKey) then
                    return currentDeduplicatedJobId
                end
                if deduplicationOpts['keepLastIfActive'] then
                    rcall('SET', deduplicationKey, currentDeduplicatedJobId)
                else
                    setDeduplicationKey(deduplicationKey, currentDeduplicatedJobId, deduplicationOpts)
                end
                rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "deduplicated", "jobId",
                    currentDeduplicatedJobId, "deduplicationId", deduplicationId, "deduplicatedJobId", jobId)
                return currentDeduplicatedJobId
            else
                if deduplicationOpts['keepLastIfActive'] then
                    rcall('SET', deduplicationKey, jobId)
                else
                    setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
                end
                return
            end
        else
            if deduplicationOpts['keepLastIfActive'] then
                deduplicationKeyExists = not rcall('SET', deduplicationKey, jobId, 'NX')
            else
                deduplicationKeyExists = not rcall('SET', deduplicationKey, jobId, 'PX', ttl, 'NX')
            end
        end
    else
        deduplicationKeyExists = not rcall('SET', deduplicationKey, jobId, 'NX')
    end
    if deduplicationKeyExists then
        local currentDeduplicatedJobId = rcall('GET', deduplicationKey)
        if recoverStaleDeduplicationKey(deduplicationKey, prefix, currentDeduplicatedJobId,
            jobId, deduplicationId, deduplicationOpts) then
            return
        end
        if storeDeduplicatedNextJob(deduplicationOpts, currentDeduplicatedJobId, prefix,
            deduplicationId, jobName, jobData, fullOpts, eventsKey, maxEvents, jobId,
            parentKey, parentData, parentDependenciesKey, repeatJobKey) then
            return currentDeduplicatedJobId
        end
        rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "deduplicated", "jobId",
            currentDeduplicatedJobId, "deduplicationId", deduplicationId, "deduplicatedJobId", jobId)
        return currentDeduplicatedJobId
    end
end
--[[
  Function to remove job keys.
]]
local function removeJobKeys(jobKey)
  return rcall("DEL", jobKey, jobKey .. ':logs', jobKey .. ':dependencies',
    jobKey .. ':processed', jobKey .. ':failed', jobKey .. ':unsuccessful')
end
local function removeDelayedJob(delayedKey, deduplicationKey, eventsKey, maxEvents, currentDeduplicatedJobId,
    jobId, deduplicationId, prefix)
    if rcall("ZREM", delayedKey, currentDeduplicatedJobId) > 0 then
        removeJobKeys(prefix .. currentDeduplicatedJobId)
        rcall("XADD", eventsKey, "*", "event", "removed", "jobId", currentDeduplicatedJobId,
            "prev", "delayed")
        rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "deduplicated", "jobId",
            jobId, "deduplicationId", deduplicationId, "deduplicatedJobId", currentDeduplicatedJobId)
        return true
    end
    return false
end
local function deduplicateJob(deduplicationOpts, jobId, delayedKey, deduplicationKey, eventsKey, maxEvents,
    prefix, jobName, jobData, fullOpts, parentKey, parentData, parentDependenciesKey, repeatJobKey, timestamp)
    local deduplicationId = deduplicationOpts and deduplicationOpts['id']
    if deduplicationId then
        if deduplicationOpts['replace'] then
            local currentDeduplicatedJobId = rcall('GET', deduplicationKey)
            if currentDeduplicatedJobId then
                local isRemoved = removeDelayedJob(delayedKey, deduplicationKey, eventsKey, maxEvents,
                    currentDeduplicatedJobId, jobId, deduplicationId, prefix)
                if isRemoved then
                    -- Discard any pending next-job payload stored while the replaced
                    -- job was active, otherwise it would be resurrected when the
                    -- incoming job finalizes.
                    rcall('DEL', prefix .. "dn:" .. deduplicationId)
                    if deduplicationOpts['keepLastIfActive'] then
                        rcall('SET', deduplicationKey, jobId)
                    else
                        local ttl = deduplicationOpts['ttl']
                        if not deduplicationOpts['extend'] and ttl and ttl > 0 then
                            rcall('SET', deduplicationKey, jobId, 'KEEPTTL')
                        else
                            setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
                        end
                    end
                    return
                else
                    if recoverStaleDeduplicationKey(deduplicationKey, prefix, currentDeduplicatedJobId,
                        jobId, deduplicationId, deduplicationOpts) then
                        return
                    end
                    storeDeduplicatedNextJob(deduplicationOpts, currentDeduplicatedJobId, prefix,
                        deduplicationId, jobName, jobData, fullOpts, eventsKey, maxEvents, jobId,
                        parentKey, parentData, parentDependenciesKey, repeatJobKey)
                    return currentDeduplicatedJobId
                end
            else
                if deduplicationOpts['keepLastIfActive'] then
                    rcall('SET', deduplicationKey, jobId)
                else
                    setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
                end
                return
            end
        else
            local currentDeduplicatedJobId = deduplicateJobWithoutReplace(deduplicationId, deduplicationOpts,
                jobId, deduplicationKey, eventsKey, maxEvents, prefix, jobName, jobData, fullOpts,
                parentKey, parentData, parentDependenciesKey, repeatJobKey)
            if currentDeduplicatedJobId and deduplicationOpts['reschedule'] and
                rcall('ZSCORE', delayedKey, currentDeduplicatedJobId) then
                local delay = tonumber(fullOpts['delay']) or 0
                rcall('HSET', prefix .. currentDeduplicatedJobId, 'delay', delay)
                addDelayedJob(currentDeduplicatedJobId, delayedKey, eventsKey, timestamp,
                    maxEvents, prefix .. 'marker', delay)
            end
            return currentDeduplicatedJobId
        end
    end
end
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to handle the case when job is duplicated.
]]
-- Includes
--[[
    This function is used to update the parent's dependencies if the job
    is already completed and about to be ignored. The parent must get its
    dependencies updated to avoid the parent job being stuck forever in 
    the waiting-children state.
    When "deferParentRelease" is true (flow inserts), the parent is *not*
    moved out of waiting-children here: the remaining children of the flow
    have not been inserted yet, so the parent would be released too early.
    Only the processed dependency is recorded; releasing the parent is
    validated by "releaseParentIfNoPendingDependencies" once the whole flow
    has been added.
]]
-- Includes
--[[
  Validate and move or add dependencies to parent.
]]
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized)
  if no pending dependencies.
]]
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized) if needed.
]]
-- Includes
--[[
  Move parent to a wait status (wait, prioritized or delayed)
]]
-- Includes
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    local parentWaitKey = parentQueueKey .. ":wait"
    local parentActiveKey = parentQueueKey .. ":active"
    local parentMetaKey = parentQueueKey .. ":meta"
    local parentMarkerKey = parentQueueKey .. ":marker"
    local jobAttributes = rcall("HMGET", parentKey, "priority", "delay")
    local priority = tonumber(jobAttributes[1]) or 0
    local delay = tonumber(jobAttributes[2]) or 0
    if delay > 0 then
        local delayedTimestamp = tonumber(timestamp) + delay
        local score = delayedTimestamp * 0x1000
        local parentDelayedKey = parentQueueKey .. ":delayed"
        rcall("ZADD", parentDelayedKey, score, parentId)
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "delayed", "jobId", parentId, "delay",
            delayedTimestamp)
        addDelayMarkerIfNeeded(parentMarkerKey, parentDelayedKey)
    else
        if priority == 0 then
            local isParentPausedOrMaxed =
                isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobInTargetList(parentWaitKey, parentMarkerKey, "RPUSH", isParentPausedOrMaxed, parentId)
        else
            local isPausedOrMaxed = isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobWithPriority(parentMarkerKey, parentQueueKey .. ":prioritized", priority, parentId,
                parentQueueKey .. ":pc", isPausedOrMaxed)
        end
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "waiting", "jobId", parentId, "prev",
            "waiting-children")
    end
end
local function moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  if rcall("EXISTS", parentKey) == 1 then
    local parentWaitingChildrenKey = parentQueueKey .. ":waiting-children"
    if rcall("ZSCORE", parentWaitingChildrenKey, parentId) then    
      rcall("ZREM", parentWaitingChildrenKey, parentId)
      moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    end
  end
end
local function moveParentToWaitIfNoPendingDependencies(parentQueueKey, parentDependenciesKey, parentKey,
  parentId, timestamp)
  local doNotHavePendingDependencies = rcall("SCARD", parentDependenciesKey) == 0
  if doNotHavePendingDependencies then
    moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  end
end
local function updateParentDepsIfNeeded(parentKey, parentQueueKey, parentDependenciesKey,
  parentId, jobIdKey, returnvalue, timestamp )
  local processedSet = parentKey .. ":processed"
  rcall("HSET", processedSet, jobIdKey, returnvalue)
  moveParentToWaitIfNoPendingDependencies(parentQueueKey, parentDependenciesKey, parentKey, parentId, timestamp)
end
local function updateExistingJobsParent(parentKey, parent, parentData,
                                        parentDependenciesKey, completedKey,
                                        jobIdKey, jobId, timestamp,
                                        deferParentRelease)
    if parentKey ~= nil then
        if rcall("ZSCORE", completedKey, jobId) then
            local returnvalue = rcall("HGET", jobIdKey, "returnvalue")
            if deferParentRelease then
                rcall("HSET", parentKey .. ":processed", jobIdKey, returnvalue)
            else
                updateParentDepsIfNeeded(parentKey, parent['queueKey'],
                                         parentDependenciesKey, parent['id'],
                                         jobIdKey, returnvalue, timestamp)
            end
        else
            if parentDependenciesKey ~= nil then
                rcall("SADD", parentDependenciesKey, jobIdKey)
            end
        end
        rcall("HMSET", jobIdKey, "parentKey", parentKey, "parent", parentData)
    end
end
local function handleDuplicatedJob(jobKey, jobId, currentParentKey, currentParent,
  parentData, parentDependenciesKey, completedKey, eventsKey, maxEvents, timestamp,
  deferParentRelease)
  local existedParentKey = rcall("HGET", jobKey, "parentKey")
  if not existedParentKey or existedParentKey == currentParentKey
     or rcall("EXISTS", existedParentKey) == 0 then
    updateExistingJobsParent(currentParentKey, currentParent, parentData,
      parentDependenciesKey, completedKey, jobKey,
      jobId, timestamp, deferParentRelease)
  else
    if currentParentKey ~= nil and currentParentKey ~= existedParentKey
      and (rcall("EXISTS", existedParentKey) == 1) then
      if deferParentRelease then
        rcall("HSET", currentParentKey, "flowAttachmentFailed", "1")
      end
      return -7
    end
  end
  rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event",
    "duplicated", "jobId", jobId)
  return jobId .. "" -- convert to string
end
--[[
  Function to store a job
]]
local function storeJob(eventsKey, jobIdKey, jobId, name, data, opts, timestamp,
                        parentKey, parentData, repeatJobKey)
    local jsonOpts = cjson.encode(opts)
    local delay = opts['delay'] or 0
    local priority = opts['priority'] or 0
    local debounceId = opts['de'] and opts['de']['id']
    local optionalValues = {}
    if parentKey ~= nil then
        table.insert(optionalValues, "parentKey")
        table.insert(optionalValues, parentKey)
        table.insert(optionalValues, "parent")
        table.insert(optionalValues, parentData)
    end
    if repeatJobKey then
        table.insert(optionalValues, "rjk")
        table.insert(optionalValues, repeatJobKey)
    end
    if debounceId then
        table.insert(optionalValues, "deid")
        table.insert(optionalValues, debounceId)
    end
    rcall("HMSET", jobIdKey, "name", name, "data", data, "opts", jsonOpts,
          "timestamp", timestamp, "delay", delay, "priority", priority,
          unpack(optionalValues))
    rcall("XADD", eventsKey, "*", "event", "added", "jobId", jobId, "name", name)
    return delay, priority
end
if parentKey ~= nil then
    if rcall("EXISTS", parentKey) ~= 1 then return -5 end
    parentData = cjson.encode(parent)
end
local jobCounter = rcall("INCR", KEYS[4])
local maxEvents = getOrSetMaxEvents(metaKey)
local parentDependenciesKey = args[6]
local timestamp = args[4]
if args[2] == "" then
    jobId = jobCounter .. "" -- convert to string
    jobIdKey = args[1] .. jobId
else
    jobId = args[2]
    jobIdKey = args[1] .. jobId
    if rcall("EXISTS", jobIdKey) == 1 then
        return handleDuplicatedJob(jobIdKey, jobId, parentKey, parent,
            parentData, parentDependenciesKey, KEYS[5], eventsKey,
            maxEvents, timestamp, deferParentRelease)
    end
end
local deduplicationJobId = deduplicateJob(opts['de'], jobId, KEYS[6],
  deduplicationKey, eventsKey, maxEvents, args[1], args[3], ARGV[2], opts,
  parentKey, parentData, parentDependenciesKey, repeatJobKey, timestamp)
if deduplicationJobId then
  return deduplicationJobId
end
-- Store the job.
storeJob(eventsKey, jobIdKey, jobId, args[3], ARGV[2], opts, timestamp,
        parentKey, parentData, repeatJobKey)
local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, activeKey)
-- LIFO or FIFO
local pushCmd = opts['lifo'] and 'RPUSH' or 'LPUSH'
addJobInTargetList(waitKey, KEYS[9], pushCmd, isPausedOrMaxed, jobId)
-- Emit waiting event
rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "waiting",
      "jobId", jobId)
-- Check if this job is a child of another job, if so add it to the parents dependencies
if parentDependenciesKey ~= nil then
    rcall("SADD", parentDependenciesKey, jobIdKey)
end
return jobId
`,keys:9},lr={name:`extendLock`,content:`--[[
  Extend lock and removes the job from the stalled set.
  Input:
    KEYS[1] 'lock',
    KEYS[2] 'stalled'
    ARGV[1]  token
    ARGV[2]  lock duration in milliseconds
    ARGV[3]  jobid
  Output:
    "1" if lock extended successfully.
]]
local rcall = redis.call
if rcall("GET", KEYS[1]) == ARGV[1] then
  --   if rcall("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "XX") then
  if rcall("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) then
    rcall("SREM", KEYS[2], ARGV[3])
    return 1
  end
end
return 0
`,keys:2},ur={name:`extendLocks`,content:`--[[
  Extend locks for multiple jobs and remove them from the stalled set if successful.
  Return the list of job IDs for which the operation failed.
  KEYS[1] = stalled key
  ARGV[1] = baseKey
  ARGV[2] = tokens
  ARGV[3] = jobIds
  ARGV[4] = lockDuration (ms)
  Output:
    An array of failed job IDs. If empty, all succeeded.
]]
local rcall = redis.call
local stalledKey = KEYS[1]
local baseKey = ARGV[1]
local tokens = cmsgpack.unpack(ARGV[2])
local jobIds = cmsgpack.unpack(ARGV[3])
local lockDuration = ARGV[4]
local jobCount = #jobIds
local failedJobs = {}
for i = 1, jobCount, 1 do
    local lockKey = baseKey .. jobIds[i] .. ':lock'
    local jobId = jobIds[i]
    local token = tokens[i]
    local currentToken = rcall("GET", lockKey)
    if currentToken then
        if currentToken == token then
            local setResult = rcall("SET", lockKey, token, "PX", lockDuration)
            if setResult then
                rcall("SREM", stalledKey, jobId)
            else
                table.insert(failedJobs, jobId)
            end
        else
            table.insert(failedJobs, jobId)
        end
    else
        table.insert(failedJobs, jobId)
    end
end
return failedJobs
`,keys:1},dr={name:`getCounts`,content:`--[[
  Get counts per provided states
    Input:
      KEYS[1]    'prefix'
      ARGV[1]    optional delayed timestamp cutoff (milliseconds)
      ARGV[...]  types (starts at 1 when no cutoff is provided)
]]
local rcall = redis.call;
local prefix = KEYS[1]
local results = {}
local delayedTimestamp = tonumber(ARGV[1])
local firstType = delayedTimestamp and 2 or 1
for i = firstType, #ARGV do
  local stateKey = prefix .. ARGV[i]
  if ARGV[i] == "wait" or ARGV[i] == "paused" then
    -- Markers in waitlist DEPRECATED in v5: Remove in v6.
    local marker = rcall("LINDEX", stateKey, -1)
    if marker and string.sub(marker, 1, 2) == "0:" then
      local count = rcall("LLEN", stateKey)
      if count > 1 then
        rcall("RPOP", stateKey)
        results[#results+1] = count-1
      else
        results[#results+1] = 0
      end
    else
      results[#results+1] = rcall("LLEN", stateKey)
    end
  elseif ARGV[i] == "active" then
    results[#results+1] = rcall("LLEN", stateKey)
  elseif ARGV[i] == "delayed" and delayedTimestamp then
    -- The low 12 score bits order jobs within a millisecond. Subtracting one
    -- excludes every job scheduled at the cutoff timestamp or later.
    results[#results+1] = rcall("ZCOUNT", stateKey, "-inf", delayedTimestamp * 0x1000 - 1)
  else
    results[#results+1] = rcall("ZCARD", stateKey)
  end
end
return results
`,keys:1},fr={name:`getCountsPerPriority`,content:`--[[
  Get counts per provided states
    Input:
      KEYS[1] wait key
      KEYS[2] prioritized key
      ARGV[1...] priorities
]]
local rcall = redis.call
local results = {}
local waitKey = KEYS[1]
local prioritizedKey = KEYS[2]
for i = 1, #ARGV do
  local priority = tonumber(ARGV[i])
  if priority == 0 then
    results[#results+1] = rcall("LLEN", waitKey)
  else
    results[#results+1] = rcall("ZCOUNT", prioritizedKey,
      priority * 0x100000000, (priority + 1)  * 0x100000000 - 1)
  end
end
return results
`,keys:2},pr={name:`getDependencyCounts`,content:`--[[
  Get counts per child states
    Input:
      KEYS[1]    processed key
      KEYS[2]    unprocessed key
      KEYS[3]    ignored key
      KEYS[4]    failed key
      ARGV[1...] types
]]
local rcall = redis.call;
local processedKey = KEYS[1]
local unprocessedKey = KEYS[2]
local ignoredKey = KEYS[3]
local failedKey = KEYS[4]
local results = {}
for i = 1, #ARGV do
  if ARGV[i] == "processed" then
    results[#results+1] = rcall("HLEN", processedKey)
  elseif ARGV[i] == "unprocessed" then
    results[#results+1] = rcall("SCARD", unprocessedKey)
  elseif ARGV[i] == "ignored" then
    results[#results+1] = rcall("HLEN", ignoredKey)
  else
    results[#results+1] = rcall("ZCARD", failedKey)
  end
end
return results
`,keys:4},mr={name:`getJobs`,content:`--[[
  Get jobs (id + data) for the provided states.
  Job ids and their hashes are read in the same script so that ids whose hash
  disappears after the id is read (but before the job is loaded) do not appear
  in the result set. Ids without a job hash (for example the deprecated wait
  list marker entry stored in the list) are skipped. For bounded ranges the
  script iterates forward using the range offset as a cursor to backfill
  skipped ids, preserving the requested page size when possible.
    Input:
      KEYS[1]    'prefix'
      ARGV[1]    start
      ARGV[2]    end
      ARGV[3]    asc ('1' | '0')
      ARGV[4]    max iterations (backfill bound)
      ARGV[5...] types
    Output:
      results grouped per requested type; each entry is a
      {jobId, {field, value, ...}} tuple
]]
local rcall = redis.call
local prefix = KEYS[1]
local rangeStart = tonumber(ARGV[1])
local rangeEnd = tonumber(ARGV[2])
local asc = ARGV[3] == "1"
local max_iterations = tonumber(ARGV[4])
local results = {}
local function isListType(stateType)
  return stateType == "wait" or stateType == "paused" or stateType == "active"
end
-- Fetch a slice of ids for the given state respecting the requested order.
local function fetchIds(stateKey, stateType, sliceStart, sliceEnd, listLength)
  if isListType(stateType) then
    if asc then
      local modifiedRangeStart
      local modifiedRangeEnd
      if sliceStart == -1 then
        modifiedRangeStart = 0
      else
        modifiedRangeStart = -(sliceStart + 1)
      end
      if sliceEnd == -1 then
        modifiedRangeEnd = 0
      else
        modifiedRangeEnd = -(sliceEnd + 1)
      end
      -- Ascending list slices use negative indexes. When the whole window is
      -- beyond the list length Redis clamps both indexes to 0 and LRANGE would
      -- return the head element, so guard against out-of-range slices with LLEN.
      if listLength ~= nil and sliceStart >= 0 and sliceEnd >= 0 and sliceStart >= listLength then
        return {}
      end
      local ids = rcall("LRANGE", stateKey, modifiedRangeEnd, modifiedRangeStart)
      local reversed = {}
      for i = #ids, 1, -1 do
        reversed[#reversed + 1] = ids[i]
      end
      return reversed
    else
      return rcall("LRANGE", stateKey, sliceStart, sliceEnd)
    end
  else
    if asc then
      return rcall("ZRANGE", stateKey, sliceStart, sliceEnd)
    else
      return rcall("ZREVRANGE", stateKey, sliceStart, sliceEnd)
    end
  end
end
-- Fetch the job hash for an id and append it when present.
local function appendJob(entries, jobId)
  local jobData = rcall("HGETALL", prefix .. jobId)
  if #jobData > 0 then
    entries[#entries + 1] = {jobId, jobData}
  end
end
local function cleanupDeprecatedMarker(stateKey, stateType)
  if stateType == "wait" or stateType == "paused" then
    local marker = rcall("LINDEX", stateKey, -1)
    if marker and string.sub(marker, 1, 2) == "0:" then
      local count = rcall("LLEN", stateKey)
      if count > 1 then
        rcall("RPOP", stateKey)
        return count - 1
      end
      return 0
    end
  end
end
local function collectJobs(stateKey, stateType)
  local entries = {}
  local listLength
  local cleanedListLength = cleanupDeprecatedMarker(stateKey, stateType)
  if asc and isListType(stateType) and rangeStart >= 0 and rangeEnd >= 0 then
    if cleanedListLength ~= nil then
      listLength = cleanedListLength
    else
      listLength = rcall("LLEN", stateKey)
    end
  end
  -- Unbounded or negative ranges: fetch the exact window and skip missing ids.
  if rangeStart < 0 or rangeEnd < 0 then
    local ids = fetchIds(stateKey, stateType, rangeStart, rangeEnd, listLength)
    for i = 1, #ids do
      appendJob(entries, ids[i])
    end
    return entries
  end
  -- Bounded range: iterate forward to backfill skipped ids.
  local needed = rangeEnd - rangeStart + 1
  local cursor = rangeStart
  local iterations = 0
  while #entries < needed and iterations < max_iterations do
    local ids = fetchIds(stateKey, stateType, cursor, cursor + needed - 1, listLength)
    if #ids == 0 then
      break
    end
    for i = 1, #ids do
      if #entries >= needed then
        break
      end
      appendJob(entries, ids[i])
    end
    cursor = cursor + #ids
    iterations = iterations + 1
  end
  return entries
end
for i = 5, #ARGV do
  local stateType = ARGV[i]
  local stateKey = prefix .. stateType
  results[#results + 1] = collectJobs(stateKey, stateType)
end
return results
`,keys:1},hr={name:`getMetrics`,content:`--[[
  Get metrics
  Input:
    KEYS[1] 'metrics' key
    KEYS[2] 'metrics data' key
    ARGV[1] start index
    ARGV[2] end index
]]
local rcall = redis.call;
local metricsKey = KEYS[1]
local dataKey = KEYS[2]
local metrics = rcall("HMGET", metricsKey, "count", "prevTS", "prevCount")
local data = rcall("LRANGE", dataKey, tonumber(ARGV[1]), tonumber(ARGV[2]))
local numPoints = rcall("LLEN", dataKey)
return {metrics, data, numPoints}
`,keys:2},gr={name:`getRanges`,content:`--[[
  Get job ids per provided states
    Input:
      KEYS[1]    'prefix'
      ARGV[1]    start
      ARGV[2]    end
      ARGV[3]    asc
      ARGV[4...] types
]]
local rcall = redis.call
local prefix = KEYS[1]
local rangeStart = tonumber(ARGV[1])
local rangeEnd = tonumber(ARGV[2])
local asc = ARGV[3]
local results = {}
local function getRangeInList(listKey, asc, rangeStart, rangeEnd, results)
  if asc == "1" then
    local modifiedRangeStart
    local modifiedRangeEnd
    if rangeStart == -1 then
      modifiedRangeStart = 0
    else
      modifiedRangeStart = -(rangeStart + 1)
    end
    if rangeEnd == -1 then
      modifiedRangeEnd = 0
    else
      modifiedRangeEnd = -(rangeEnd + 1)
    end
    results[#results+1] = rcall("LRANGE", listKey,
      modifiedRangeEnd,
      modifiedRangeStart)
  else
    results[#results+1] = rcall("LRANGE", listKey, rangeStart, rangeEnd)
  end
end
for i = 4, #ARGV do
  local stateKey = prefix .. ARGV[i]
  if ARGV[i] == "wait" or ARGV[i] == "paused" then
    -- Markers in waitlist DEPRECATED in v5: Remove in v6.
    local marker = rcall("LINDEX", stateKey, -1)
    if marker and string.sub(marker, 1, 2) == "0:" then
      local count = rcall("LLEN", stateKey)
      if count > 1 then
        rcall("RPOP", stateKey)
        getRangeInList(stateKey, asc, rangeStart, rangeEnd, results)
      else
        results[#results+1] = {}
      end
    else
      getRangeInList(stateKey, asc, rangeStart, rangeEnd, results)
    end
  elseif ARGV[i] == "active" then
    getRangeInList(stateKey, asc, rangeStart, rangeEnd, results)
  else
    if asc == "1" then
      results[#results+1] = rcall("ZRANGE", stateKey, rangeStart, rangeEnd)
    else
      results[#results+1] = rcall("ZREVRANGE", stateKey, rangeStart, rangeEnd)
    end
  end
end
return results
`,keys:1},_r={name:`getRateLimitTtl`,content:`--[[
  Get rate limit ttl
    Input:
      KEYS[1] 'limiter'
      KEYS[2] 'meta'
      ARGV[1] maxJobs
]]
local rcall = redis.call
-- Includes
--[[
  Function to get current rate limit ttl.
]]
local function getRateLimitTTL(maxJobs, rateLimiterKey)
  if maxJobs and maxJobs <= tonumber(rcall("GET", rateLimiterKey) or 0) then
    local pttl = rcall("PTTL", rateLimiterKey)
    if pttl == 0 then
      rcall("DEL", rateLimiterKey)
    end
    if pttl > 0 then
      return pttl
    end
  end
  return 0
end
local rateLimiterKey = KEYS[1]
if ARGV[1] ~= "0" then
  return getRateLimitTTL(tonumber(ARGV[1]), rateLimiterKey)
else
  local rateLimitMax = rcall("HGET", KEYS[2], "max")
  if rateLimitMax then
    return getRateLimitTTL(tonumber(rateLimitMax), rateLimiterKey)
  end
  return rcall("PTTL", rateLimiterKey)
end
`,keys:2},vr={name:`getState`,content:`--[[
  Get a job state
  Input: 
    KEYS[1] 'completed' key,
    KEYS[2] 'failed' key
    KEYS[3] 'delayed' key
    KEYS[4] 'active' key
    KEYS[5] 'wait' key
    KEYS[6] 'paused' key
    KEYS[7] 'waiting-children' key
    KEYS[8] 'prioritized' key
    ARGV[1] job id
  Output:
    'completed'
    'failed'
    'delayed'
    'active'
    'prioritized'
    'waiting'
    'waiting-children'
    'unknown'
]]
local rcall = redis.call
if rcall("ZSCORE", KEYS[1], ARGV[1]) then
  return "completed"
end
if rcall("ZSCORE", KEYS[2], ARGV[1]) then
  return "failed"
end
if rcall("ZSCORE", KEYS[3], ARGV[1]) then
  return "delayed"
end
if rcall("ZSCORE", KEYS[8], ARGV[1]) then
  return "prioritized"
end
-- Includes
--[[
  Function to check if an item belongs to a list.
]]
local function checkItemInList(list, item)
  for _, v in pairs(list) do
    if v == item then
      return 1
    end
  end
  return nil
end
local active_items = rcall("LRANGE", KEYS[4] , 0, -1)
if checkItemInList(active_items, ARGV[1]) ~= nil then
  return "active"
end
local wait_items = rcall("LRANGE", KEYS[5] , 0, -1)
if checkItemInList(wait_items, ARGV[1]) ~= nil then
  return "waiting"
end
local paused_items = rcall("LRANGE", KEYS[6] , 0, -1)
if checkItemInList(paused_items, ARGV[1]) ~= nil then
  return "waiting"
end
if rcall("ZSCORE", KEYS[7], ARGV[1]) then
  return "waiting-children"
end
return "unknown"
`,keys:8},yr={name:`getStateV2`,content:`--[[
  Get a job state
  Input: 
    KEYS[1] 'completed' key,
    KEYS[2] 'failed' key
    KEYS[3] 'delayed' key
    KEYS[4] 'active' key
    KEYS[5] 'wait' key
    KEYS[6] 'paused' key
    KEYS[7] 'waiting-children' key
    KEYS[8] 'prioritized' key
    ARGV[1] job id
  Output:
    'completed'
    'failed'
    'delayed'
    'active'
    'waiting'
    'waiting-children'
    'unknown'
]]
local rcall = redis.call
if rcall("ZSCORE", KEYS[1], ARGV[1]) then
  return "completed"
end
if rcall("ZSCORE", KEYS[2], ARGV[1]) then
  return "failed"
end
if rcall("ZSCORE", KEYS[3], ARGV[1]) then
  return "delayed"
end
if rcall("ZSCORE", KEYS[8], ARGV[1]) then
  return "prioritized"
end
if rcall("LPOS", KEYS[4] , ARGV[1]) then
  return "active"
end
if rcall("LPOS", KEYS[5] , ARGV[1]) then
  return "waiting"
end
if rcall("LPOS", KEYS[6] , ARGV[1]) then
  return "waiting"
end
if rcall("ZSCORE", KEYS[7] , ARGV[1]) then
  return "waiting-children"
end
return "unknown"
`,keys:8},br={name:`isFinished`,content:`--[[
  Checks if a job is finished (.i.e. is in the completed or failed set)
  Input: 
    KEYS[1] completed key
    KEYS[2] failed key
    KEYS[3] job key
    ARGV[1] job id
    ARGV[2] return value?
  Output:
    0 - Not finished.
    1 - Completed.
    2 - Failed.
   -1 - Missing job. 
]]
local rcall = redis.call
if rcall("EXISTS", KEYS[3]) ~= 1 then
  if ARGV[2] == "1" then
    return {-1,"Missing key for job " .. KEYS[3] .. ". isFinished"}
  end  
  return -1
end
if rcall("ZSCORE", KEYS[1], ARGV[1]) then
  if ARGV[2] == "1" then
    local returnValue = rcall("HGET", KEYS[3], "returnvalue")
    return {1,returnValue}
  end
  return 1
end
if rcall("ZSCORE", KEYS[2], ARGV[1]) then
  if ARGV[2] == "1" then
    local failedReason = rcall("HGET", KEYS[3], "failedReason")
    return {2,failedReason}
  end
  return 2
end
if ARGV[2] == "1" then
  return {0}
end
return 0
`,keys:3},xr={name:`isJobInList`,content:`--[[
  Checks if job is in a given list.
  Input:
    KEYS[1]
    ARGV[1]
  Output:
    1 if element found in the list.
]]
-- Includes
--[[
  Function to check if an item belongs to a list.
]]
local function checkItemInList(list, item)
  for _, v in pairs(list) do
    if v == item then
      return 1
    end
  end
  return nil
end
local items = redis.call("LRANGE", KEYS[1] , 0, -1)
return checkItemInList(items, ARGV[1])
`,keys:1},Sr={name:`isMaxed`,content:`--[[
  Checks if queue is maxed.
  Input:
    KEYS[1] meta key
    KEYS[2] active key
  Output:
    1 if element found in the list.
]]
local rcall = redis.call
-- Includes
--[[
  Function to check if queue is maxed or not.
]]
local function isQueueMaxed(queueMetaKey, activeKey)
  local maxConcurrency = rcall("HGET", queueMetaKey, "concurrency")
  if maxConcurrency then
    local activeCount = rcall("LLEN", activeKey)
    if activeCount >= tonumber(maxConcurrency) then
      return true
    end
  end
  return false
end
return isQueueMaxed(KEYS[1], KEYS[2])
`,keys:2},Cr={name:`moveJobFromActiveToWait`,content:`--[[
  Function to move job from active state to wait.
  Input:
    KEYS[1]  active key
    KEYS[2]  wait key
    KEYS[3]  stalled key
    KEYS[4]  paused key
    KEYS[5]  meta key
    KEYS[6]  limiter key
    KEYS[7]  prioritized key
    KEYS[8]  marker key
    KEYS[9]  event key
    ARGV[1] job id
    ARGV[2] lock token
    ARGV[3] job id key
]]
local rcall = redis.call
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to push back job considering priority in front of same prioritized jobs.
]]
local function pushBackJobWithPriority(prioritizedKey, priority, jobId)
  -- in order to put it at front of same prioritized jobs
  -- we consider prioritized counter as 0
  local score = priority * 0x100000000
  rcall("ZADD", prioritizedKey, score, jobId)
end
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function removeLock(jobKey, stalledKey, token, jobId)
  if token ~= "0" then
    local lockKey = jobKey .. ':lock'
    local lockToken = rcall("GET", lockKey)
    if lockToken == token then
      rcall("DEL", lockKey)
      rcall("SREM", stalledKey, jobId)
    else
      if lockToken then
        -- Lock exists but token does not match
        return -6
      else
        -- Lock is missing completely
        return -2
      end
    end
  end
  return 0
end
local jobId = ARGV[1]
local token = ARGV[2]
local jobKey = ARGV[3]
if rcall("EXISTS", jobKey) == 0 then
  return -1
end
local errorCode = removeLock(jobKey, KEYS[3], token, jobId)
if errorCode < 0 then
  return errorCode
end
local metaKey = KEYS[5]
local removed = rcall("LREM", KEYS[1], 1, jobId)
if removed > 0 then
  local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, KEYS[1])
  local priority = tonumber(rcall("HGET", ARGV[3], "priority")) or 0
  if priority > 0 then
    pushBackJobWithPriority(KEYS[7], priority, jobId)
  else
    addJobInTargetList(KEYS[2], KEYS[8], "RPUSH", isPausedOrMaxed, jobId)
  end
  local maxEvents = getOrSetMaxEvents(metaKey)
  -- Emit waiting event
  rcall("XADD", KEYS[9], "MAXLEN", "~", maxEvents, "*", "event", "waiting",
    "jobId", jobId, "prev", "active")
end
local pttl = rcall("PTTL", KEYS[6])
if pttl > 0 then
  return pttl
else
  return 0
end
`,keys:9},wr={name:`moveJobsToWait`,content:`--[[
  Move completed, failed or delayed jobs to wait.
  Note: Does not support jobs with priorities.
  Input:
    KEYS[1] base key
    KEYS[2] events stream
    KEYS[3] state key (failed, completed, delayed)
    KEYS[4] 'wait'
    KEYS[5] 'paused'
    KEYS[6] 'meta'
    KEYS[7] 'active'
    KEYS[8] 'marker'
    ARGV[1] count
    ARGV[2] timestamp
    ARGV[3] prev state
  Output:
    1  means the operation is not completed
    0  means the operation is completed
]]
local maxCount = tonumber(ARGV[1])
local timestamp = tonumber(ARGV[2])
local rcall = redis.call;
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
--[[
  Function to loop in batches.
  Just a bit of warning, some commands as ZREM
  could receive a maximum of 7000 parameters per call.
]]
local function batches(n, batchSize)
  local i = 0
  return function()
    local from = i * batchSize + 1
    i = i + 1
    if (from <= n) then
      local to = math.min(from + batchSize - 1, n)
      return from, to
    end
  end
end
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
--[[
  Function to move a retried child back to its parent's dependencies.
  This does not move a parent that has already left waiting-children back to that state.
]]
local function moveChildBackToParentDependencies(jobKey, prevState)
  local parentKey = rcall("HGET", jobKey, "parentKey")
  if parentKey and rcall("EXISTS", parentKey) == 1 then
    if prevState == "failed" then
      if rcall("ZREM", parentKey .. ":unsuccessful", jobKey) == 1 or
        rcall("HDEL", parentKey .. ":failed", jobKey) == 1 then
        rcall("SADD", parentKey .. ":dependencies", jobKey)
      end
    else
      if rcall("HDEL", parentKey .. ":processed", jobKey) == 1 then
        rcall("SADD", parentKey .. ":dependencies", jobKey)
      end
    end
  end
end
local metaKey = KEYS[6]
local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, KEYS[7])
local jobs = rcall('ZRANGEBYSCORE', KEYS[3], 0, timestamp, 'LIMIT', 0, maxCount)
if (#jobs > 0) then
    if ARGV[3] == "failed" then
        for i, key in ipairs(jobs) do
            local jobKey = KEYS[1] .. key
            rcall("HDEL", jobKey, "finishedOn", "processedOn", "failedReason")
            moveChildBackToParentDependencies(jobKey, ARGV[3])
        end
    elseif ARGV[3] == "completed" then
        for i, key in ipairs(jobs) do
            local jobKey = KEYS[1] .. key
            rcall("HDEL", jobKey, "finishedOn", "processedOn", "returnvalue")
            moveChildBackToParentDependencies(jobKey, ARGV[3])
        end
    end
    local maxEvents = getOrSetMaxEvents(metaKey)
    for i, key in ipairs(jobs) do
        -- Emit waiting event
        rcall("XADD", KEYS[2], "MAXLEN", "~", maxEvents, "*", "event",
              "waiting", "jobId", key, "prev", ARGV[3]);
    end
    for from, to in batches(#jobs, 7000) do
        rcall("ZREM", KEYS[3], unpack(jobs, from, to))
        rcall("LPUSH", KEYS[4], unpack(jobs, from, to))
    end
    addBaseMarkerIfNeeded(KEYS[8], isPausedOrMaxed)
end
maxCount = maxCount - #jobs
if (maxCount <= 0) then return 1 end
return 0
`,keys:8},Tr={name:`moveStalledJobsToWait`,content:`--[[
  Move stalled jobs to wait.
    Input:
      KEYS[1] 'stalled' (SET)
      KEYS[2] 'wait',   (LIST)
      KEYS[3] 'active', (LIST)
      KEYS[4] 'stalled-check', (KEY)
      KEYS[5] 'meta', (KEY)
      KEYS[6] 'paused', (LIST)
      KEYS[7] 'marker'
      KEYS[8] 'event stream' (STREAM)
      KEYS[9] 'repeat' key
      ARGV[1]  Max stalled job count
      ARGV[2]  queue.toKey('')
      ARGV[3]  timestamp
      ARGV[4]  max check time
    Events:
      'stalled' with stalled job id.
]]
local rcall = redis.call
-- Includes
--[[
  Function to loop in batches.
  Just a bit of warning, some commands as ZREM
  could receive a maximum of 7000 parameters per call.
]]
local function batches(n, batchSize)
  local i = 0
  return function()
    local from = i * batchSize + 1
    i = i + 1
    if (from <= n) then
      local to = math.min(from + batchSize - 1, n)
      return from, to
    end
  end
end
--[[
  Function to move job to wait to be picked up by a waiting worker.
]]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function moveJobToWait(metaKey, activeKey, waitKey, pausedKey, markerKey, eventStreamKey,
  jobId, pushCmd)
  local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, activeKey)
  addJobInTargetList(waitKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall("XADD", eventStreamKey, "*", "event", "waiting", "jobId", jobId, 'prev', 'active')
end
--[[
  Function to trim events, default 10000.
]]
-- Includes
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
local function trimEvents(metaKey, eventStreamKey)
  local maxEvents = getOrSetMaxEvents(metaKey)
  if maxEvents then
    rcall("XTRIM", eventStreamKey, "MAXLEN", "~", maxEvents)
  else
    rcall("XTRIM", eventStreamKey, "MAXLEN", "~", 10000)
  end
end
local stalledKey = KEYS[1]
local waitKey = KEYS[2]
local activeKey = KEYS[3]
local stalledCheckKey = KEYS[4]
local metaKey = KEYS[5]
local pausedKey = KEYS[6]
local markerKey = KEYS[7]
local eventStreamKey = KEYS[8]
local repeatKey = KEYS[9]
local maxStalledJobCount = tonumber(ARGV[1])
local queueKeyPrefix = ARGV[2]
local timestamp = ARGV[3]
local maxCheckTime = ARGV[4]
if rcall("EXISTS", stalledCheckKey) == 1 then
    return {}
end
rcall("SET", stalledCheckKey, timestamp, "PX", maxCheckTime)
-- Trim events before emitting them to avoid trimming events emitted in this script
trimEvents(metaKey, eventStreamKey)
-- Move all stalled jobs to wait
local stalling = rcall('SMEMBERS', stalledKey)
local stalled = {}
if (#stalling > 0) then
    rcall('DEL', stalledKey)
    -- Remove from active list
    for i, jobId in ipairs(stalling) do
        -- Markers in waitlist DEPRECATED in v5: Remove in v6.
        if string.sub(jobId, 1, 2) == "0:" then
            -- If the jobId is a delay marker ID we just remove it.
            rcall("LREM", activeKey, 1, jobId)
        else
            local jobKey = queueKeyPrefix .. jobId
            -- Check that the lock is also missing, then we can handle this job as really stalled.
            if (rcall("EXISTS", jobKey .. ":lock") == 0) then
                --  Remove from the active queue.
                local removed = rcall("LREM", activeKey, 1, jobId)
                if (removed > 0) then
                    -- If this job has been stalled too many times, such as if it crashes the worker, then fail it.
                    local stalledCount = rcall("HINCRBY", jobKey, "stc", 1)
                    -- Check if this is a repeatable job by looking at job options
                    local jobSchedulerId = rcall("HGET", jobKey, "rjk")
                    local isRepeatableJob = false
                    if jobSchedulerId then
                        local schedulerKey = repeatKey .. ":" .. jobSchedulerId
                        if rcall("EXISTS", schedulerKey) == 1 then
                            isRepeatableJob = true
                        else
                            -- TODO: remove this check in v6, as it is only needed for legacy repeatable jobs
                            -- that stored the scheduler id in the job key but did not create the scheduler hash key
                            local prevMillis = rcall("ZSCORE", repeatKey, jobSchedulerId)
                            if prevMillis then
                                isRepeatableJob = true
                            end
                        end
                    end
                    -- Only fail job if it exceeds stall limit AND is not a repeatable job
                    if stalledCount > maxStalledJobCount and not isRepeatableJob then
                        local failedReason = "job stalled more than allowable limit"
                        rcall("HSET", jobKey, "defa", failedReason)
                    end
                    moveJobToWait(metaKey, activeKey, waitKey, pausedKey, markerKey, eventStreamKey, jobId,
                        "RPUSH")
                    -- Emit the stalled event
                    rcall("XADD", eventStreamKey, "*", "event", "stalled", "jobId", jobId)
                    table.insert(stalled, jobId)
                end
            end
        end
    end
end
-- Mark potentially stalled jobs
local active = rcall('LRANGE', activeKey, 0, -1)
if (#active > 0) then
    for from, to in batches(#active, 7000) do
        rcall('SADD', stalledKey, unpack(active, from, to))
    end
end
return stalled
`,keys:9},Er={name:`moveToActive`,content:`--[[
  Move next job to be processed to active, lock it and fetch its data. The job
  may be delayed, in that case we need to move it to the delayed set instead.
  This operation guarantees that the worker owns the job during the lock
  expiration time. The worker is responsible of keeping the lock fresh
  so that no other worker picks this job again.
  Input:
    KEYS[1] wait key
    KEYS[2] active key
    KEYS[3] prioritized key
    KEYS[4] stream events key
    KEYS[5] stalled key
    -- Rate limiting
    KEYS[6] rate limiter key
    KEYS[7] delayed key
    -- Delayed jobs
    KEYS[8] paused key
    KEYS[9] meta key
    KEYS[10] pc priority counter
    -- Marker
    KEYS[11] marker key
    -- Arguments
    ARGV[1] key prefix
    ARGV[2] timestamp
    ARGV[3] opts
    opts - token - lock token
    opts - lockDuration
    opts - limiter
    opts - name - worker name
]]
local rcall = redis.call
local waitKey = KEYS[1]
local activeKey = KEYS[2]
local eventStreamKey = KEYS[4]
local rateLimiterKey = KEYS[6]
local delayedKey = KEYS[7]
local opts = cmsgpack.unpack(ARGV[3])
-- Includes
--[[
  Function to get queue metadata.
]]
local function getQueueMetadata(queueMetaKey, activeKey, waitKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency", "max", "duration")
  if queueAttributes[1] then
    return true, queueAttributes[3], queueAttributes[4]
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      if activeCount >= tonumber(queueAttributes[2]) then
        return true, queueAttributes[3], queueAttributes[4]
      else
        return false, queueAttributes[3], queueAttributes[4]
      end
    end
  end
  return false, queueAttributes[3], queueAttributes[4]
end
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
--[[
  Function to get current rate limit ttl.
]]
local function getRateLimitTTL(maxJobs, rateLimiterKey)
  if maxJobs and maxJobs <= tonumber(rcall("GET", rateLimiterKey) or 0) then
    local pttl = rcall("PTTL", rateLimiterKey)
    if pttl == 0 then
      rcall("DEL", rateLimiterKey)
    end
    if pttl > 0 then
      return pttl
    end
  end
  return 0
end
--[[
  Function to move job from prioritized state to active.
]]
local function moveJobFromPrioritizedToActive(priorityKey, activeKey, priorityCounterKey)
  local prioritizedJob = rcall("ZPOPMIN", priorityKey)
  if #prioritizedJob > 0 then
    rcall("LPUSH", activeKey, prioritizedJob[1])
    return prioritizedJob[1]
  else
    rcall("DEL", priorityCounterKey)
  end
end
--[[
  Function to move job from wait state to active.
  Input:
    opts - token - lock token
    opts - lockDuration
    opts - limiter
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function prepareJobForProcessing(keyPrefix, rateLimiterKey, eventStreamKey,
    jobId, processedOn, maxJobs, limiterDuration, markerKey, opts)
  local jobKey = keyPrefix .. jobId
  -- Check if we need to perform rate limiting.
  if maxJobs then
    local isDeferredFailure = rcall("HEXISTS", jobKey, "defa") == 1
    if not isDeferredFailure then
      local jobCounter = tonumber(rcall("INCR", rateLimiterKey))
      if jobCounter == 1 then
        local integerDuration = math.floor(math.abs(limiterDuration))
        rcall("PEXPIRE", rateLimiterKey, integerDuration)
      end
    end
  end
  -- get a lock
  if opts['token'] ~= "0" then
    local lockKey = jobKey .. ':lock'
    rcall("SET", lockKey, opts['token'], "PX", opts['lockDuration'])
  end
  local optionalValues = {}
  if opts['name'] then
    -- Set "processedBy" field to the worker name
    table.insert(optionalValues, "pb")
    table.insert(optionalValues, opts['name'])
  end
  rcall("XADD", eventStreamKey, "*", "event", "active", "jobId", jobId, "prev", "waiting")
  rcall("HMSET", jobKey, "processedOn", processedOn, unpack(optionalValues))
  rcall("HINCRBY", jobKey, "ats", 1)
  addBaseMarkerIfNeeded(markerKey, false)
  -- rate limit delay must be 0 in this case to prevent adding more delay
  -- when job that is moved to active needs to be processed
  return {rcall("HGETALL", jobKey), jobId, 0, 0} -- get job data
end
--[[
  Updates the delay set, by moving delayed jobs that should
  be processed now to "wait".
     Events:
      'waiting'
]]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
-- Try to get as much as 1000 jobs at once
local function promoteDelayedJobs(delayedKey, markerKey, targetKey, prioritizedKey,
                                  eventStreamKey, prefix, timestamp, priorityCounterKey, isPaused)
    local jobs = rcall("ZRANGEBYSCORE", delayedKey, 0, (timestamp + 1) * 0x1000 - 1, "LIMIT", 0, 1000)
    if (#jobs > 0) then
        rcall("ZREM", delayedKey, unpack(jobs))
        for _, jobId in ipairs(jobs) do
            local jobKey = prefix .. jobId
            local priority =
                tonumber(rcall("HGET", jobKey, "priority")) or 0
            if priority == 0 then
                -- LIFO or FIFO
                rcall("LPUSH", targetKey, jobId)
            else
                local score = getPriorityScore(priority, priorityCounterKey)
                rcall("ZADD", prioritizedKey, score, jobId)
            end
            -- Emit waiting event
            rcall("XADD", eventStreamKey, "*", "event", "waiting", "jobId",
                  jobId, "prev", "delayed")
            rcall("HSET", jobKey, "delay", 0)
        end
        addBaseMarkerIfNeeded(markerKey, isPaused)
    end
end
local isPausedOrMaxed, rateLimitMax, rateLimitDuration =
    getQueueMetadata(KEYS[9], activeKey, waitKey)
-- Check if there are delayed jobs that we can move to wait.
local markerKey = KEYS[11]
promoteDelayedJobs(delayedKey, markerKey, waitKey, KEYS[3], eventStreamKey, ARGV[1],
                   ARGV[2], KEYS[10], isPausedOrMaxed)
local maxJobs = tonumber(rateLimitMax or (opts['limiter'] and opts['limiter']['max']))
local expireTime = getRateLimitTTL(maxJobs, rateLimiterKey)
-- Check if we are rate limited first.
if expireTime > 0 then return {0, 0, expireTime, 0} end
-- paused or maxed queue
if isPausedOrMaxed then return {0, 0, 0, 0} end
local limiterDuration = (opts['limiter'] and opts['limiter']['duration']) or rateLimitDuration
-- no job ID, try non-blocking move from wait to active
local jobId = rcall("RPOPLPUSH", waitKey, activeKey)
-- Markers in waitlist DEPRECATED in v5: Will be completely removed in v6.
if jobId and string.sub(jobId, 1, 2) == "0:" then
    rcall("LREM", activeKey, 1, jobId)
    jobId = rcall("RPOPLPUSH", waitKey, activeKey)
end
if jobId then
    return prepareJobForProcessing(ARGV[1], rateLimiterKey, eventStreamKey, jobId, ARGV[2],
                                   maxJobs, limiterDuration, markerKey, opts)
else
    jobId = moveJobFromPrioritizedToActive(KEYS[3], activeKey, KEYS[10])
    if jobId then
        return prepareJobForProcessing(ARGV[1], rateLimiterKey, eventStreamKey, jobId, ARGV[2],
                                       maxJobs, limiterDuration, markerKey, opts)
    end
end
-- Return the timestamp for the next delayed job if any.
local nextTimestamp = getNextDelayedTimestamp(delayedKey)
if nextTimestamp ~= nil then return {0, 0, 0, nextTimestamp} end
return {0, 0, 0, 0}
`,keys:11},Dr={name:`moveToDelayed`,content:`--[[
  Moves job from active to delayed set.
  Input:
    KEYS[1] marker key
    KEYS[2] active key
    KEYS[3] prioritized key
    KEYS[4] delayed key
    KEYS[5] job key
    KEYS[6] events stream
    KEYS[7] meta key
    KEYS[8] stalled key
    KEYS[9] wait key
    KEYS[10] rate limiter key
    KEYS[11] pc priority counter
    ARGV[1] key prefix
    ARGV[2] timestamp
    ARGV[3] the id of the job
    ARGV[4] queue token
    ARGV[5] delay value
    ARGV[6] skip attempt
    ARGV[7] optional job fields to update
    ARGV[8] fetch next?
    ARGV[9] opts
  Output:
    0 - OK
   -1 - Missing job.
   -3 - Job not in active set.
  Events:
    - delayed key.
]]
local rcall = redis.call
-- Includes
--[[
  Add delay marker if needed.
]]
-- Includes
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
local function addDelayMarkerIfNeeded(markerKey, delayedKey)
  local nextTimestamp = getNextDelayedTimestamp(delayedKey)
  if nextTimestamp ~= nil then
    -- Replace the score of the marker with the newest known
    -- next timestamp.
    rcall("ZADD", markerKey, nextTimestamp, "1")
  end
end
--[[
  Function to fetch the next job to process.
  Tries to get the next job to avoid an extra roundtrip if the queue is
  not closing and not rate limited.
  Input:
    waitKey - wait list key
    activeKey - active list key
    prioritizedKey - prioritized sorted set key
    eventStreamKey - event stream key
    rateLimiterKey - rate limiter key
    delayedKey - delayed sorted set key
    metaKey - meta hash key
    pcKey - priority counter key
    markerKey - marker key
    prefix - keys prefix
    timestamp - current timestamp
    opts - options table:
      token (required) - lock token used when locking jobs
      lockDuration (required) - lock duration for acquired jobs
      limiter (optional) - rate limiter options table (e.g. { max = number })
]]
-- Includes
--[[
  Function to get queue metadata.
]]
local function getQueueMetadata(queueMetaKey, activeKey, waitKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency", "max", "duration")
  if queueAttributes[1] then
    return true, queueAttributes[3], queueAttributes[4]
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      if activeCount >= tonumber(queueAttributes[2]) then
        return true, queueAttributes[3], queueAttributes[4]
      else
        return false, queueAttributes[3], queueAttributes[4]
      end
    end
  end
  return false, queueAttributes[3], queueAttributes[4]
end
--[[
  Function to get current rate limit ttl.
]]
local function getRateLimitTTL(maxJobs, rateLimiterKey)
  if maxJobs and maxJobs <= tonumber(rcall("GET", rateLimiterKey) or 0) then
    local pttl = rcall("PTTL", rateLimiterKey)
    if pttl == 0 then
      rcall("DEL", rateLimiterKey)
    end
    if pttl > 0 then
      return pttl
    end
  end
  return 0
end
--[[
  Function to move job from prioritized state to active.
]]
local function moveJobFromPrioritizedToActive(priorityKey, activeKey, priorityCounterKey)
  local prioritizedJob = rcall("ZPOPMIN", priorityKey)
  if #prioritizedJob > 0 then
    rcall("LPUSH", activeKey, prioritizedJob[1])
    return prioritizedJob[1]
  else
    rcall("DEL", priorityCounterKey)
  end
end
--[[
  Function to move job from wait state to active.
  Input:
    opts - token - lock token
    opts - lockDuration
    opts - limiter
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function prepareJobForProcessing(keyPrefix, rateLimiterKey, eventStreamKey,
    jobId, processedOn, maxJobs, limiterDuration, markerKey, opts)
  local jobKey = keyPrefix .. jobId
  -- Check if we need to perform rate limiting.
  if maxJobs then
    local isDeferredFailure = rcall("HEXISTS", jobKey, "defa") == 1
    if not isDeferredFailure then
      local jobCounter = tonumber(rcall("INCR", rateLimiterKey))
      if jobCounter == 1 then
        local integerDuration = math.floor(math.abs(limiterDuration))
        rcall("PEXPIRE", rateLimiterKey, integerDuration)
      end
    end
  end
  -- get a lock
  if opts['token'] ~= "0" then
    local lockKey = jobKey .. ':lock'
    rcall("SET", lockKey, opts['token'], "PX", opts['lockDuration'])
  end
  local optionalValues = {}
  if opts['name'] then
    -- Set "processedBy" field to the worker name
    table.insert(optionalValues, "pb")
    table.insert(optionalValues, opts['name'])
  end
  rcall("XADD", eventStreamKey, "*", "event", "active", "jobId", jobId, "prev", "waiting")
  rcall("HMSET", jobKey, "processedOn", processedOn, unpack(optionalValues))
  rcall("HINCRBY", jobKey, "ats", 1)
  addBaseMarkerIfNeeded(markerKey, false)
  -- rate limit delay must be 0 in this case to prevent adding more delay
  -- when job that is moved to active needs to be processed
  return {rcall("HGETALL", jobKey), jobId, 0, 0} -- get job data
end
--[[
  Updates the delay set, by moving delayed jobs that should
  be processed now to "wait".
     Events:
      'waiting'
]]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
-- Try to get as much as 1000 jobs at once
local function promoteDelayedJobs(delayedKey, markerKey, targetKey, prioritizedKey,
                                  eventStreamKey, prefix, timestamp, priorityCounterKey, isPaused)
    local jobs = rcall("ZRANGEBYSCORE", delayedKey, 0, (timestamp + 1) * 0x1000 - 1, "LIMIT", 0, 1000)
    if (#jobs > 0) then
        rcall("ZREM", delayedKey, unpack(jobs))
        for _, jobId in ipairs(jobs) do
            local jobKey = prefix .. jobId
            local priority =
                tonumber(rcall("HGET", jobKey, "priority")) or 0
            if priority == 0 then
                -- LIFO or FIFO
                rcall("LPUSH", targetKey, jobId)
            else
                local score = getPriorityScore(priority, priorityCounterKey)
                rcall("ZADD", prioritizedKey, score, jobId)
            end
            -- Emit waiting event
            rcall("XADD", eventStreamKey, "*", "event", "waiting", "jobId",
                  jobId, "prev", "delayed")
            rcall("HSET", jobKey, "delay", 0)
        end
        addBaseMarkerIfNeeded(markerKey, isPaused)
    end
end
local function fetchNextJob(waitKey, activeKey, prioritizedKey, eventStreamKey,
    rateLimiterKey, delayedKey, metaKey, pcKey, markerKey, prefix,
    timestamp, opts)
    local isPausedOrMaxed, rateLimitMax, rateLimitDuration =
        getQueueMetadata(metaKey, activeKey, waitKey)
    -- Check if there are delayed jobs that can be promoted
    promoteDelayedJobs(delayedKey, markerKey, waitKey, prioritizedKey,
        eventStreamKey, prefix, timestamp, pcKey, isPausedOrMaxed)
    local maxJobs = tonumber(rateLimitMax or (opts['limiter'] and opts['limiter']['max']))
    -- Check if we are rate limited first.
    local expireTime = getRateLimitTTL(maxJobs, rateLimiterKey)
    if expireTime > 0 then
        return {0, 0, expireTime, 0}
    end
    -- paused or maxed queue
    if isPausedOrMaxed then
        return {0, 0, 0, 0}
    end
    local limiterDuration = (opts['limiter'] and opts['limiter']['duration']) or rateLimitDuration
    local jobId = rcall("RPOPLPUSH", waitKey, activeKey)
    if jobId then
        -- Markers in waitlist DEPRECATED in v5: Remove in v6.
        if string.sub(jobId, 1, 2) == "0:" then
            rcall("LREM", activeKey, 1, jobId)
            -- If jobId is special ID 0:delay (delay greater than 0), then there is no job to process
            -- but if ID is 0:0, then there is at least 1 prioritized job to process
            if jobId == "0:0" then
                jobId = moveJobFromPrioritizedToActive(prioritizedKey, activeKey, pcKey)
                return prepareJobForProcessing(prefix, rateLimiterKey,
                    eventStreamKey, jobId, timestamp, maxJobs,
                    limiterDuration, markerKey, opts)
            end
        else
            return prepareJobForProcessing(prefix, rateLimiterKey,
                eventStreamKey, jobId, timestamp, maxJobs,
                limiterDuration, markerKey, opts)
        end
    else
        jobId = moveJobFromPrioritizedToActive(prioritizedKey, activeKey, pcKey)
        if jobId then
            return prepareJobForProcessing(prefix, rateLimiterKey,
                eventStreamKey, jobId, timestamp, maxJobs,
                limiterDuration, markerKey, opts)
        end
    end
    -- Return the timestamp for the next delayed job if any.
    local nextTimestamp = getNextDelayedTimestamp(delayedKey)
    if nextTimestamp ~= nil then
        -- The result is guaranteed to be positive, since the
        -- ZRANGEBYSCORE command would have return a job otherwise.
        return {0, 0, 0, nextTimestamp}
    end
end
--[[
  Bake in the job id first 12 bits into the timestamp
  to guarantee correct execution order of delayed jobs
  (up to 4096 jobs per given timestamp or 4096 jobs apart per timestamp)
  WARNING: Jobs that are so far apart that they wrap around will cause FIFO to fail
]]
local function getDelayedScore(delayedKey, timestamp, delay)
  local delayedTimestamp = (delay > 0 and (tonumber(timestamp) + delay)) or tonumber(timestamp)
  local minScore = delayedTimestamp * 0x1000
  local maxScore = (delayedTimestamp + 1 ) * 0x1000 - 1
  local result = rcall("ZREVRANGEBYSCORE", delayedKey, maxScore,
    minScore, "WITHSCORES","LIMIT", 0, 1)
  if #result then
    local currentMaxScore = tonumber(result[2])
    if currentMaxScore ~= nil then
      if currentMaxScore >= maxScore then
        return maxScore, delayedTimestamp
      else
        return currentMaxScore + 1, delayedTimestamp
      end
    end
  end
  return minScore, delayedTimestamp
end
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
local function removeLock(jobKey, stalledKey, token, jobId)
  if token ~= "0" then
    local lockKey = jobKey .. ':lock'
    local lockToken = rcall("GET", lockKey)
    if lockToken == token then
      rcall("DEL", lockKey)
      rcall("SREM", stalledKey, jobId)
    else
      if lockToken then
        -- Lock exists but token does not match
        return -6
      else
        -- Lock is missing completely
        return -2
      end
    end
  end
  return 0
end
--[[
  Function to update a bunch of fields in a job.
]]
local function updateJobFields(jobKey, msgpackedFields)
  if msgpackedFields and #msgpackedFields > 0 then
    local fieldsToUpdate = cmsgpack.unpack(msgpackedFields)
    if fieldsToUpdate then
      rcall("HMSET", jobKey, unpack(fieldsToUpdate))
    end
  end
end
local jobKey = KEYS[5]
local markerKey = KEYS[1]
local metaKey = KEYS[7]
local token = ARGV[4] 
if rcall("EXISTS", jobKey) == 1 then
    local errorCode = removeLock(jobKey, KEYS[8], token, ARGV[3])
    if errorCode < 0 then
        return errorCode
    end
    updateJobFields(jobKey, ARGV[7])
    local delayedKey = KEYS[4]
    local jobId = ARGV[3]
    local delay = tonumber(ARGV[5])
    local numRemovedElements = rcall("LREM", KEYS[2], -1, jobId)
    if numRemovedElements < 1 then return -3 end
    local score, delayedTimestamp = getDelayedScore(delayedKey, ARGV[2], delay)
    if ARGV[6] == "0" then
        rcall("HINCRBY", jobKey, "atm", 1)
    end
    rcall("HSET", jobKey, "delay", ARGV[5])
    local maxEvents = getOrSetMaxEvents(metaKey)
    rcall("ZADD", delayedKey, score, jobId)
    rcall("XADD", KEYS[6], "MAXLEN", "~", maxEvents, "*", "event", "delayed",
          "jobId", jobId, "delay", delayedTimestamp)
    -- Try to get next job to avoid an extra roundtrip if the queue is not closing,
    -- and not rate limited.
    if (ARGV[8] == "1") then
        local opts = cmsgpack.unpack(ARGV[9])
        local result = fetchNextJob(KEYS[9], KEYS[2], KEYS[3], KEYS[6],
            KEYS[10], KEYS[4], metaKey, KEYS[11], markerKey,
            ARGV[1], ARGV[2], opts)
        if result and type(result[1]) == "table" then
            return result
        end
    end
    -- Check if we need to push a marker job to wake up sleeping workers.
    addDelayMarkerIfNeeded(markerKey, delayedKey)
    return 0
else
    return -1
end
`,keys:11},Or={name:`moveToFinished`,content:`--[[
  Move job from active to a finished status (completed or failed)
  A job can only be moved to completed if it was active.
  The job must be locked before it can be moved to a finished status,
  and the lock must be released in this script.
    Input:
      KEYS[1] wait key
      KEYS[2] active key
      KEYS[3] prioritized key
      KEYS[4] event stream key
      KEYS[5] stalled key
      -- Rate limiting
      KEYS[6] rate limiter key
      KEYS[7] delayed key
      KEYS[8] paused key
      KEYS[9] meta key
      KEYS[10] pc priority counter
      KEYS[11] completed/failed key
      KEYS[12] jobId key
      KEYS[13] metrics key
      KEYS[14] marker key
      ARGV[1]  jobId
      ARGV[2]  timestamp
      ARGV[3]  msg property returnvalue / failedReason
      ARGV[4]  return value / failed reason
      ARGV[5]  target (completed/failed)
      ARGV[6]  fetch next?
      ARGV[7]  keys prefix
      ARGV[8]  opts
      ARGV[9]  job fields to update
      opts - token - lock token
      opts - keepJobs
      opts - lockDuration - lock duration in milliseconds
      opts - attempts max attempts
      opts - maxMetricsSize
      opts - fpof - fail parent on fail
      opts - cpof - continue parent on fail
      opts - idof - ignore dependency on fail
      opts - rdof - remove dependency on fail
      opts - name - worker name
    Output:
      0 OK
      -1 Missing key.
      -2 Missing lock.
      -3 Job not in active set
      -4 Job has pending children
      -6 Lock is not owned by this client
      -9 Job has failed children
    Events:
      'completed/failed'
]]
local rcall = redis.call
--- Includes
--[[
  Functions to collect metrics based on a current and previous count of jobs.
  Granularity is fixed at 1 minute.
]]
--[[
  Function to loop in batches.
  Just a bit of warning, some commands as ZREM
  could receive a maximum of 7000 parameters per call.
]]
local function batches(n, batchSize)
  local i = 0
  return function()
    local from = i * batchSize + 1
    i = i + 1
    if (from <= n) then
      local to = math.min(from + batchSize - 1, n)
      return from, to
    end
  end
end
local function collectMetrics(metaKey, dataPointsList, maxDataPoints,
                                 timestamp)
    -- Increment current count
    local count = rcall("HINCRBY", metaKey, "count", 1) - 1
    -- Compute how many data points we need to add to the list, N.
    local prevTS = rcall("HGET", metaKey, "prevTS")
    if not prevTS then
        -- If prevTS is nil, set it to the current timestamp
        rcall("HSET", metaKey, "prevTS", timestamp, "prevCount", 0)
        return
    end
    local N = math.min(math.floor(timestamp / 60000) - math.floor(prevTS / 60000), tonumber(maxDataPoints))
    if N > 0 then
        local delta = count - rcall("HGET", metaKey, "prevCount")
        -- If N > 1, add N-1 zeros to the list
        if N > 1 then
            local points = {}
            points[1] = delta
            for i = 2, N do
                points[i] = 0
            end
            for from, to in batches(#points, 7000) do
                rcall("LPUSH", dataPointsList, unpack(points, from, to))
            end
        else
            -- LPUSH delta to the list
            rcall("LPUSH", dataPointsList, delta)
        end
        -- LTRIM to keep list to its max size
        rcall("LTRIM", dataPointsList, 0, maxDataPoints - 1)
        -- update prev count with current count
        rcall("HSET", metaKey, "prevCount", count, "prevTS", timestamp)
    end
end
--[[
  Function to fetch the next job to process.
  Tries to get the next job to avoid an extra roundtrip if the queue is
  not closing and not rate limited.
  Input:
    waitKey - wait list key
    activeKey - active list key
    prioritizedKey - prioritized sorted set key
    eventStreamKey - event stream key
    rateLimiterKey - rate limiter key
    delayedKey - delayed sorted set key
    metaKey - meta hash key
    pcKey - priority counter key
    markerKey - marker key
    prefix - keys prefix
    timestamp - current timestamp
    opts - options table:
      token (required) - lock token used when locking jobs
      lockDuration (required) - lock duration for acquired jobs
      limiter (optional) - rate limiter options table (e.g. { max = number })
]]
-- Includes
--[[
  Function to get queue metadata.
]]
local function getQueueMetadata(queueMetaKey, activeKey, waitKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency", "max", "duration")
  if queueAttributes[1] then
    return true, queueAttributes[3], queueAttributes[4]
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      if activeCount >= tonumber(queueAttributes[2]) then
        return true, queueAttributes[3], queueAttributes[4]
      else
        return false, queueAttributes[3], queueAttributes[4]
      end
    end
  end
  return false, queueAttributes[3], queueAttributes[4]
end
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
--[[
  Function to get current rate limit ttl.
]]
local function getRateLimitTTL(maxJobs, rateLimiterKey)
  if maxJobs and maxJobs <= tonumber(rcall("GET", rateLimiterKey) or 0) then
    local pttl = rcall("PTTL", rateLimiterKey)
    if pttl == 0 then
      rcall("DEL", rateLimiterKey)
    end
    if pttl > 0 then
      return pttl
    end
  end
  return 0
end
--[[
  Function to move job from prioritized state to active.
]]
local function moveJobFromPrioritizedToActive(priorityKey, activeKey, priorityCounterKey)
  local prioritizedJob = rcall("ZPOPMIN", priorityKey)
  if #prioritizedJob > 0 then
    rcall("LPUSH", activeKey, prioritizedJob[1])
    return prioritizedJob[1]
  else
    rcall("DEL", priorityCounterKey)
  end
end
--[[
  Function to move job from wait state to active.
  Input:
    opts - token - lock token
    opts - lockDuration
    opts - limiter
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function prepareJobForProcessing(keyPrefix, rateLimiterKey, eventStreamKey,
    jobId, processedOn, maxJobs, limiterDuration, markerKey, opts)
  local jobKey = keyPrefix .. jobId
  -- Check if we need to perform rate limiting.
  if maxJobs then
    local isDeferredFailure = rcall("HEXISTS", jobKey, "defa") == 1
    if not isDeferredFailure then
      local jobCounter = tonumber(rcall("INCR", rateLimiterKey))
      if jobCounter == 1 then
        local integerDuration = math.floor(math.abs(limiterDuration))
        rcall("PEXPIRE", rateLimiterKey, integerDuration)
      end
    end
  end
  -- get a lock
  if opts['token'] ~= "0" then
    local lockKey = jobKey .. ':lock'
    rcall("SET", lockKey, opts['token'], "PX", opts['lockDuration'])
  end
  local optionalValues = {}
  if opts['name'] then
    -- Set "processedBy" field to the worker name
    table.insert(optionalValues, "pb")
    table.insert(optionalValues, opts['name'])
  end
  rcall("XADD", eventStreamKey, "*", "event", "active", "jobId", jobId, "prev", "waiting")
  rcall("HMSET", jobKey, "processedOn", processedOn, unpack(optionalValues))
  rcall("HINCRBY", jobKey, "ats", 1)
  addBaseMarkerIfNeeded(markerKey, false)
  -- rate limit delay must be 0 in this case to prevent adding more delay
  -- when job that is moved to active needs to be processed
  return {rcall("HGETALL", jobKey), jobId, 0, 0} -- get job data
end
--[[
  Updates the delay set, by moving delayed jobs that should
  be processed now to "wait".
     Events:
      'waiting'
]]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
-- Try to get as much as 1000 jobs at once
local function promoteDelayedJobs(delayedKey, markerKey, targetKey, prioritizedKey,
                                  eventStreamKey, prefix, timestamp, priorityCounterKey, isPaused)
    local jobs = rcall("ZRANGEBYSCORE", delayedKey, 0, (timestamp + 1) * 0x1000 - 1, "LIMIT", 0, 1000)
    if (#jobs > 0) then
        rcall("ZREM", delayedKey, unpack(jobs))
        for _, jobId in ipairs(jobs) do
            local jobKey = prefix .. jobId
            local priority =
                tonumber(rcall("HGET", jobKey, "priority")) or 0
            if priority == 0 then
                -- LIFO or FIFO
                rcall("LPUSH", targetKey, jobId)
            else
                local score = getPriorityScore(priority, priorityCounterKey)
                rcall("ZADD", prioritizedKey, score, jobId)
            end
            -- Emit waiting event
            rcall("XADD", eventStreamKey, "*", "event", "waiting", "jobId",
                  jobId, "prev", "delayed")
            rcall("HSET", jobKey, "delay", 0)
        end
        addBaseMarkerIfNeeded(markerKey, isPaused)
    end
end
local function fetchNextJob(waitKey, activeKey, prioritizedKey, eventStreamKey,
    rateLimiterKey, delayedKey, metaKey, pcKey, markerKey, prefix,
    timestamp, opts)
    local isPausedOrMaxed, rateLimitMax, rateLimitDuration =
        getQueueMetadata(metaKey, activeKey, waitKey)
    -- Check if there are delayed jobs that can be promoted
    promoteDelayedJobs(delayedKey, markerKey, waitKey, prioritizedKey,
        eventStreamKey, prefix, timestamp, pcKey, isPausedOrMaxed)
    local maxJobs = tonumber(rateLimitMax or (opts['limiter'] and opts['limiter']['max']))
    -- Check if we are rate limited first.
    local expireTime = getRateLimitTTL(maxJobs, rateLimiterKey)
    if expireTime > 0 then
        return {0, 0, expireTime, 0}
    end
    -- paused or maxed queue
    if isPausedOrMaxed then
        return {0, 0, 0, 0}
    end
    local limiterDuration = (opts['limiter'] and opts['limiter']['duration']) or rateLimitDuration
    local jobId = rcall("RPOPLPUSH", waitKey, activeKey)
    if jobId then
        -- Markers in waitlist DEPRECATED in v5: Remove in v6.
        if string.sub(jobId, 1, 2) == "0:" then
            rcall("LREM", activeKey, 1, jobId)
            -- If jobId is special ID 0:delay (delay greater than 0), then there is no job to process
            -- but if ID is 0:0, then there is at least 1 prioritized job to process
            if jobId == "0:0" then
                jobId = moveJobFromPrioritizedToActive(prioritizedKey, activeKey, pcKey)
                return prepareJobForProcessing(prefix, rateLimiterKey,
                    eventStreamKey, jobId, timestamp, maxJobs,
                    limiterDuration, markerKey, opts)
            end
        else
            return prepareJobForProcessing(prefix, rateLimiterKey,
                eventStreamKey, jobId, timestamp, maxJobs,
                limiterDuration, markerKey, opts)
        end
    else
        jobId = moveJobFromPrioritizedToActive(prioritizedKey, activeKey, pcKey)
        if jobId then
            return prepareJobForProcessing(prefix, rateLimiterKey,
                eventStreamKey, jobId, timestamp, maxJobs,
                limiterDuration, markerKey, opts)
        end
    end
    -- Return the timestamp for the next delayed job if any.
    local nextTimestamp = getNextDelayedTimestamp(delayedKey)
    if nextTimestamp ~= nil then
        -- The result is guaranteed to be positive, since the
        -- ZRANGEBYSCORE command would have return a job otherwise.
        return {0, 0, 0, nextTimestamp}
    end
end
--[[
  Function to recursively move from waitingChildren to failed.
]]
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized)
  if no pending dependencies.
]]
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized) if needed.
]]
-- Includes
--[[
  Move parent to a wait status (wait, prioritized or delayed)
]]
-- Includes
--[[
  Add delay marker if needed.
]]
-- Includes
local function addDelayMarkerIfNeeded(markerKey, delayedKey)
  local nextTimestamp = getNextDelayedTimestamp(delayedKey)
  if nextTimestamp ~= nil then
    -- Replace the score of the marker with the newest known
    -- next timestamp.
    rcall("ZADD", markerKey, nextTimestamp, "1")
  end
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    local parentWaitKey = parentQueueKey .. ":wait"
    local parentActiveKey = parentQueueKey .. ":active"
    local parentMetaKey = parentQueueKey .. ":meta"
    local parentMarkerKey = parentQueueKey .. ":marker"
    local jobAttributes = rcall("HMGET", parentKey, "priority", "delay")
    local priority = tonumber(jobAttributes[1]) or 0
    local delay = tonumber(jobAttributes[2]) or 0
    if delay > 0 then
        local delayedTimestamp = tonumber(timestamp) + delay
        local score = delayedTimestamp * 0x1000
        local parentDelayedKey = parentQueueKey .. ":delayed"
        rcall("ZADD", parentDelayedKey, score, parentId)
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "delayed", "jobId", parentId, "delay",
            delayedTimestamp)
        addDelayMarkerIfNeeded(parentMarkerKey, parentDelayedKey)
    else
        if priority == 0 then
            local isParentPausedOrMaxed =
                isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobInTargetList(parentWaitKey, parentMarkerKey, "RPUSH", isParentPausedOrMaxed, parentId)
        else
            local isPausedOrMaxed = isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobWithPriority(parentMarkerKey, parentQueueKey .. ":prioritized", priority, parentId,
                parentQueueKey .. ":pc", isPausedOrMaxed)
        end
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "waiting", "jobId", parentId, "prev",
            "waiting-children")
    end
end
local function moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  if rcall("EXISTS", parentKey) == 1 then
    local parentWaitingChildrenKey = parentQueueKey .. ":waiting-children"
    if rcall("ZSCORE", parentWaitingChildrenKey, parentId) then    
      rcall("ZREM", parentWaitingChildrenKey, parentId)
      moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    end
  end
end
local function moveParentToWaitIfNoPendingDependencies(parentQueueKey, parentDependenciesKey, parentKey,
  parentId, timestamp)
  local doNotHavePendingDependencies = rcall("SCARD", parentDependenciesKey) == 0
  if doNotHavePendingDependencies then
    moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  end
end
local handleChildFailureAndMoveParentToWait = function (parentQueueKey, parentKey, parentId, jobIdKey, timestamp)
  if rcall("EXISTS", parentKey) == 1 then
    local parentWaitingChildrenKey = parentQueueKey .. ":waiting-children"
    local parentDelayedKey = parentQueueKey .. ":delayed"
    local parentWaitingChildrenOrDelayedKey
    if rcall("ZSCORE", parentWaitingChildrenKey, parentId) then
      parentWaitingChildrenOrDelayedKey = parentWaitingChildrenKey
    elseif rcall("ZSCORE", parentDelayedKey, parentId) then
      parentWaitingChildrenOrDelayedKey = parentDelayedKey
      rcall("HSET", parentKey, "delay", 0)
    end
    if parentWaitingChildrenOrDelayedKey then
      rcall("ZREM", parentWaitingChildrenOrDelayedKey, parentId)
      local deferredFailure = "child " .. jobIdKey .. " failed"
      rcall("HSET", parentKey, "defa", deferredFailure)
      moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    else
      if not rcall("ZSCORE", parentQueueKey .. ":failed", parentId) then
        local deferredFailure = "child " .. jobIdKey .. " failed"
        rcall("HSET", parentKey, "defa", deferredFailure)
      end
    end
  end
end
local moveChildFromDependenciesIfNeeded = function (rawParentData, childKey, failedReason, timestamp)
  if rawParentData then
    local parentData = cjson.decode(rawParentData)
    local parentKey = parentData['queueKey'] .. ':' .. parentData['id']
    local parentDependenciesChildrenKey = parentKey .. ":dependencies"
    if parentData['fpof'] then
      if rcall("SREM", parentDependenciesChildrenKey, childKey) == 1 then
        local parentUnsuccessfulChildrenKey = parentKey .. ":unsuccessful"
        rcall("ZADD", parentUnsuccessfulChildrenKey, timestamp, childKey)
        handleChildFailureAndMoveParentToWait(
          parentData['queueKey'],
          parentKey,
          parentData['id'],
          childKey,
          timestamp
        )
      end
    elseif parentData['cpof'] then
      if rcall("SREM", parentDependenciesChildrenKey, childKey) == 1 then
        local parentFailedChildrenKey = parentKey .. ":failed"
        rcall("HSET", parentFailedChildrenKey, childKey, failedReason)
        moveParentToWaitIfNeeded(parentData['queueKey'], parentKey, parentData['id'], timestamp)
      end
    elseif parentData['idof'] or parentData['rdof'] then
      if rcall("SREM", parentDependenciesChildrenKey, childKey) == 1 then
        moveParentToWaitIfNoPendingDependencies(parentData['queueKey'], parentDependenciesChildrenKey,
          parentKey, parentData['id'], timestamp)
        if parentData['idof'] then
          local parentFailedChildrenKey = parentKey .. ":failed"
          rcall("HSET", parentFailedChildrenKey, childKey, failedReason)
        end
      end
    end
  end
end
--[[
  Function to remove deduplication key if needed
  when a job is moved to completed or failed states.
]]
local function removeDeduplicationKeyIfNeededOnFinalization(prefixKey,
  deduplicationId, jobId)
  if deduplicationId then
    local deduplicationKey = prefixKey .. "de:" .. deduplicationId
    local pttl = rcall("PTTL", deduplicationKey)
    if pttl == 0 then
      return rcall("DEL", deduplicationKey)
    end
    if pttl == -1 then
      local currentJobId = rcall('GET', deduplicationKey)
      if currentJobId and currentJobId == jobId then
        return rcall("DEL", deduplicationKey)
      end
    end
  end
end
--[[
  Function to remove job keys.
]]
local function removeJobKeys(jobKey)
  return rcall("DEL", jobKey, jobKey .. ':logs', jobKey .. ':dependencies',
    jobKey .. ':processed', jobKey .. ':failed', jobKey .. ':unsuccessful')
end
--[[
  Functions to remove jobs by max age.
]]
-- Includes
--[[
  Function to remove job.
]]
-- Includes
--[[
  Function to remove deduplication key if needed
  when a job is being removed.
]]
local function removeDeduplicationKeyIfNeededOnRemoval(prefixKey,
  jobId, deduplicationId)
  if deduplicationId then
    local deduplicationKey = prefixKey .. "de:" .. deduplicationId
    local currentJobId = rcall('GET', deduplicationKey)
    if currentJobId and currentJobId == jobId then
      rcall("DEL", deduplicationKey)
      -- Also clean up any pending dedup-next data for this dedup ID
      rcall("DEL", prefixKey .. "dn:" .. deduplicationId)
      return 1
    end
  end
end
--[[
  Check if this job has a parent. If so we will just remove it from
  the parent child list, but if it is the last child we should move the parent to "wait/paused"
  which requires code from "moveToFinished"
]]
-- Includes
--[[
  Functions to destructure job key.
  Just a bit of warning, these functions may be a bit slow and affect performance significantly.
]]
local getJobIdFromKey = function (jobKey)
  return string.match(jobKey, ".*:(.*)")
end
local getJobKeyPrefix = function (jobKey, jobId)
  return string.sub(jobKey, 0, #jobKey - #jobId)
end
local function _moveParentToWait(parentPrefix, parentId, emitEvent)
  local isPausedOrMaxed =
    isQueuePausedOrMaxed(parentPrefix .. "meta", parentPrefix .. "active")
  addJobInTargetList(parentPrefix .. "wait", parentPrefix .. "marker", "RPUSH", isPausedOrMaxed, parentId)
  if emitEvent then
    local parentEventStream = parentPrefix .. "events"
    rcall("XADD", parentEventStream, "*", "event", "waiting", "jobId", parentId, "prev", "waiting-children")
  end
end
local function removeParentDependencyKey(jobKey, hard, parentKey, baseKey, debounceId)
  if parentKey then
    local parentDependenciesKey = parentKey .. ":dependencies"
    local result = rcall("SREM", parentDependenciesKey, jobKey)
    if result > 0 then
      local pendingDependencies = rcall("SCARD", parentDependenciesKey)
      if pendingDependencies == 0 then
        local parentId = getJobIdFromKey(parentKey)
        local parentPrefix = getJobKeyPrefix(parentKey, parentId)
        local numRemovedElements = rcall("ZREM", parentPrefix .. "waiting-children", parentId)
        if numRemovedElements == 1 then
          if hard then -- remove parent in same queue
            if parentPrefix == baseKey then
              removeParentDependencyKey(parentKey, hard, nil, baseKey, nil)
              removeJobKeys(parentKey)
              if debounceId then
                rcall("DEL", parentPrefix .. "de:" .. debounceId)
              end
            else
              _moveParentToWait(parentPrefix, parentId)
            end
          else
            _moveParentToWait(parentPrefix, parentId, true)
          end
        end
      end
      return true
    end
  else
    local parentAttributes = rcall("HMGET", jobKey, "parentKey", "deid")
    local missedParentKey = parentAttributes[1]
    if( (type(missedParentKey) == "string") and missedParentKey ~= ""
      and (rcall("EXISTS", missedParentKey) == 1)) then
      local parentDependenciesKey = missedParentKey .. ":dependencies"
      local result = rcall("SREM", parentDependenciesKey, jobKey)
      if result > 0 then
        local pendingDependencies = rcall("SCARD", parentDependenciesKey)
        if pendingDependencies == 0 then
          local parentId = getJobIdFromKey(missedParentKey)
          local parentPrefix = getJobKeyPrefix(missedParentKey, parentId)
          local numRemovedElements = rcall("ZREM", parentPrefix .. "waiting-children", parentId)
          if numRemovedElements == 1 then
            if hard then
              if parentPrefix == baseKey then
                removeParentDependencyKey(missedParentKey, hard, nil, baseKey, nil)
                removeJobKeys(missedParentKey)
                if parentAttributes[2] then
                  rcall("DEL", parentPrefix .. "de:" .. parentAttributes[2])
                end
              else
                _moveParentToWait(parentPrefix, parentId)
              end
            else
              _moveParentToWait(parentPrefix, parentId, true)
            end
          end
        end
        return true
      end
    end
  end
  return false
end
local function removeJob(jobId, hard, baseKey, shouldRemoveDeduplicationKey)
  local jobKey = baseKey .. jobId
  removeParentDependencyKey(jobKey, hard, nil, baseKey)
  if shouldRemoveDeduplicationKey then
    local deduplicationId = rcall("HGET", jobKey, "deid")
    removeDeduplicationKeyIfNeededOnRemoval(baseKey, jobId, deduplicationId)
  end
  removeJobKeys(jobKey)
end
local function removeJobsByMaxAge(timestamp, maxAge, targetSet, prefix, maxLimit)
  local start = timestamp - maxAge * 1000
  local jobIds = rcall("ZREVRANGEBYSCORE", targetSet, start, "-inf", "LIMIT", 0, maxLimit)
  for i, jobId in ipairs(jobIds) do
    removeJob(jobId, false, prefix, false --[[remove debounce key]])
  end
  if #jobIds > 0 then
    if #jobIds < maxLimit then
      rcall("ZREMRANGEBYSCORE", targetSet, "-inf", start)
    else
      for from, to in batches(#jobIds, 7000) do
        rcall("ZREM", targetSet, unpack(jobIds, from, to))
      end
    end
  end
end
--[[
  Functions to remove jobs by max count.
]]
-- Includes
local function removeJobsByMaxCount(maxCount, targetSet, prefix)
  local start = maxCount
  local jobIds = rcall("ZREVRANGE", targetSet, start, -1)
  for i, jobId in ipairs(jobIds) do
    removeJob(jobId, false, prefix, false --[[remove debounce key]])
  end
  rcall("ZREMRANGEBYRANK", targetSet, 0, -(maxCount + 1))
end
local function removeLock(jobKey, stalledKey, token, jobId)
  if token ~= "0" then
    local lockKey = jobKey .. ':lock'
    local lockToken = rcall("GET", lockKey)
    if lockToken == token then
      rcall("DEL", lockKey)
      rcall("SREM", stalledKey, jobId)
    else
      if lockToken then
        -- Lock exists but token does not match
        return -6
      else
        -- Lock is missing completely
        return -2
      end
    end
  end
  return 0
end
--[[
  Function to create a new job from stored dedup-next data
  when a deduplicated job with keepLastIfActive finishes.
  At most one next job is created per deduplication ID.
  Multiple triggers while active overwrite the dedup-next data,
  so only the latest data is used.
]]
-- Includes
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to set the deduplication key for a job.
  Uses TTL from deduplication opts if provided.
]]
local function setDeduplicationKey(deduplicationKey, jobId, deduplicationOpts)
    local ttl = deduplicationOpts and deduplicationOpts['ttl']
    if ttl and ttl > 0 then
        rcall('SET', deduplicationKey, jobId, 'PX', ttl)
    else
        rcall('SET', deduplicationKey, jobId)
    end
end
--[[
  Shared helper to store a job and enqueue it into the appropriate list/set.
  Handles delayed, prioritized, and standard (LIFO/FIFO) jobs.
  Emits the appropriate event after enqueuing ("delayed" or "waiting").
  Returns delay, priority from storeJob.
]]
-- Includes
--[[
  Adds a delayed job to the queue by doing the following:
    - Creates a new job key with the job data.
    - adds to delayed zset.
    - Emits a global event 'delayed' if the job is delayed.
]]
-- Includes
--[[
  Bake in the job id first 12 bits into the timestamp
  to guarantee correct execution order of delayed jobs
  (up to 4096 jobs per given timestamp or 4096 jobs apart per timestamp)
  WARNING: Jobs that are so far apart that they wrap around will cause FIFO to fail
]]
local function getDelayedScore(delayedKey, timestamp, delay)
  local delayedTimestamp = (delay > 0 and (tonumber(timestamp) + delay)) or tonumber(timestamp)
  local minScore = delayedTimestamp * 0x1000
  local maxScore = (delayedTimestamp + 1 ) * 0x1000 - 1
  local result = rcall("ZREVRANGEBYSCORE", delayedKey, maxScore,
    minScore, "WITHSCORES","LIMIT", 0, 1)
  if #result then
    local currentMaxScore = tonumber(result[2])
    if currentMaxScore ~= nil then
      if currentMaxScore >= maxScore then
        return maxScore, delayedTimestamp
      else
        return currentMaxScore + 1, delayedTimestamp
      end
    end
  end
  return minScore, delayedTimestamp
end
local function addDelayedJob(jobId, delayedKey, eventsKey, timestamp,
  maxEvents, markerKey, delay)
  local score, delayedTimestamp = getDelayedScore(delayedKey, timestamp, tonumber(delay))
  rcall("ZADD", delayedKey, score, jobId)
  rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "delayed",
    "jobId", jobId, "delay", delayedTimestamp)
  -- mark that a delayed job is available
  addDelayMarkerIfNeeded(markerKey, delayedKey)
end
--[[
  Function to store a job
]]
local function storeJob(eventsKey, jobIdKey, jobId, name, data, opts, timestamp,
                        parentKey, parentData, repeatJobKey)
    local jsonOpts = cjson.encode(opts)
    local delay = opts['delay'] or 0
    local priority = opts['priority'] or 0
    local debounceId = opts['de'] and opts['de']['id']
    local optionalValues = {}
    if parentKey ~= nil then
        table.insert(optionalValues, "parentKey")
        table.insert(optionalValues, parentKey)
        table.insert(optionalValues, "parent")
        table.insert(optionalValues, parentData)
    end
    if repeatJobKey then
        table.insert(optionalValues, "rjk")
        table.insert(optionalValues, repeatJobKey)
    end
    if debounceId then
        table.insert(optionalValues, "deid")
        table.insert(optionalValues, debounceId)
    end
    rcall("HMSET", jobIdKey, "name", name, "data", data, "opts", jsonOpts,
          "timestamp", timestamp, "delay", delay, "priority", priority,
          unpack(optionalValues))
    rcall("XADD", eventsKey, "*", "event", "added", "jobId", jobId, "name", name)
    return delay, priority
end
local function storeAndEnqueueJob(eventsKey, jobIdKey, jobId, name, data, opts,
    timestamp, parentKey, parentData, repeatJobKey, maxEvents,
    waitKey, pausedKey, activeKey, metaKey, prioritizedKey,
    priorityCounterKey, delayedKey, markerKey)
  local delay, priority = storeJob(eventsKey, jobIdKey, jobId, name, data,
      opts, timestamp, parentKey, parentData, repeatJobKey)
  if delay ~= 0 and delayedKey then
    addDelayedJob(jobId, delayedKey, eventsKey, timestamp, maxEvents, markerKey, delay)
  else
    local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, activeKey)
    if priority > 0 then
      addJobWithPriority(markerKey, prioritizedKey, priority, jobId,
          priorityCounterKey, isPausedOrMaxed)
    else
      local pushCmd = opts['lifo'] and 'RPUSH' or 'LPUSH'
      addJobInTargetList(waitKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
    end
    rcall("XADD", eventsKey, "MAXLEN", "~", maxEvents, "*", "event", "waiting",
        "jobId", jobId)
  end
  return delay, priority
end
local function requeueDeduplicatedJob(prefix, deduplicationId, eventStreamKey,
    metaKey, activeKey, waitKey, pausedKey, markerKey, prioritizedKey,
    priorityCounterKey, delayedKey, timestamp)
  local deduplicationNextKey = prefix .. "dn:" .. deduplicationId
  if rcall("EXISTS", deduplicationNextKey) == 1 then
    local nextData = rcall("HMGET", deduplicationNextKey,
        "name", "data", "opts", "pk", "pd", "pdk", "rjk", "jid")
    -- Always increment the counter to keep it monotonic
    local nextId = rcall("INCR", prefix .. "id") .. ""
    local storedJobId = nextData[8] -- index 8 = "jid" (8th field in the HMGET call above)
    local newJobId
    if storedJobId then
      newJobId = storedJobId
    else
      newJobId = nextId
    end
    local newJobIdKey = prefix .. newJobId
    local newOpts = cjson.decode(nextData[3])
    local deduplicationKey = prefix .. "de:" .. deduplicationId
    local parentKey = nextData[4] or nil
    local parentData = nextData[5] or nil
    local parentDependenciesKey = nextData[6] or nil
    local repeatJobKey = nextData[7] or nil
    -- Set dedup key for the new job (without TTL when keepLastIfActive,
    -- so the key outlives the job's active duration)
    local deOpts = newOpts['de']
    if deOpts and deOpts['keepLastIfActive'] then
      rcall('SET', deduplicationKey, newJobId)
    else
      setDeduplicationKey(deduplicationKey, newJobId, deOpts)
    end
    -- Store and enqueue using the shared helper (handles priority/lifo/delayed)
    local maxEvents = getOrSetMaxEvents(metaKey)
    storeAndEnqueueJob(eventStreamKey, newJobIdKey, newJobId, nextData[1], nextData[2],
        newOpts, timestamp, parentKey, parentData, repeatJobKey, maxEvents,
        waitKey, pausedKey, activeKey, metaKey, prioritizedKey,
        priorityCounterKey, delayedKey, markerKey)
    -- Register as child dependency if the job has a parent
    if parentDependenciesKey then
      rcall("SADD", parentDependenciesKey, newJobIdKey)
    end
    -- Only delete the dedup-next hash after the job is fully created,
    -- so that if any step above errors, the data is not permanently lost.
    rcall("DEL", deduplicationNextKey)
  end
end
--[[
  Function to trim events, default 10000.
]]
-- Includes
local function trimEvents(metaKey, eventStreamKey)
  local maxEvents = getOrSetMaxEvents(metaKey)
  if maxEvents then
    rcall("XTRIM", eventStreamKey, "MAXLEN", "~", maxEvents)
  else
    rcall("XTRIM", eventStreamKey, "MAXLEN", "~", 10000)
  end
end
--[[
  Validate and move or add dependencies to parent.
]]
-- Includes
local function updateParentDepsIfNeeded(parentKey, parentQueueKey, parentDependenciesKey,
  parentId, jobIdKey, returnvalue, timestamp )
  local processedSet = parentKey .. ":processed"
  rcall("HSET", processedSet, jobIdKey, returnvalue)
  moveParentToWaitIfNoPendingDependencies(parentQueueKey, parentDependenciesKey, parentKey, parentId, timestamp)
end
--[[
  Function to update a bunch of fields in a job.
]]
local function updateJobFields(jobKey, msgpackedFields)
  if msgpackedFields and #msgpackedFields > 0 then
    local fieldsToUpdate = cmsgpack.unpack(msgpackedFields)
    if fieldsToUpdate then
      rcall("HMSET", jobKey, unpack(fieldsToUpdate))
    end
  end
end
local jobIdKey = KEYS[12]
if rcall("EXISTS", jobIdKey) == 1 then -- Make sure job exists
    -- Make sure it does not have pending dependencies
    -- It must happen before removing lock
    if ARGV[5] == "completed" then
        if rcall("SCARD", jobIdKey .. ":dependencies") ~= 0 then
            return -4
        end
        if rcall("ZCARD", jobIdKey .. ":unsuccessful") ~= 0 then
            return -9
        end
    end
    local opts = cmsgpack.unpack(ARGV[8])
    local token = opts['token']
    local errorCode = removeLock(jobIdKey, KEYS[5], token, ARGV[1])
    if errorCode < 0 then
        return errorCode
    end
    updateJobFields(jobIdKey, ARGV[9]);
    local attempts = opts['attempts']
    local maxMetricsSize = opts['maxMetricsSize']
    local maxCount = opts['keepJobs']['count']
    local maxAge = opts['keepJobs']['age']
    local maxLimit = opts['keepJobs']['limit'] or 1000
    local jobAttributes = rcall("HMGET", jobIdKey, "parentKey", "parent", "deid")
    local parentKey = jobAttributes[1] or ""
    local parentId = ""
    local parentQueueKey = ""
    if jobAttributes[2] then -- TODO: need to revisit this logic if it's still needed
        local jsonDecodedParent = cjson.decode(jobAttributes[2])
        parentId = jsonDecodedParent['id']
        parentQueueKey = jsonDecodedParent['queueKey']
    end
    local jobId = ARGV[1]
    local timestamp = ARGV[2]
    -- Remove from active list (if not active we shall return error)
    local numRemovedElements = rcall("LREM", KEYS[2], -1, jobId)
    if (numRemovedElements < 1) then
        return -3
    end
    local eventStreamKey = KEYS[4]
    local metaKey = KEYS[9]
    -- Trim events before emitting them to avoid trimming events emitted in this script
    trimEvents(metaKey, eventStreamKey)
    local prefix = ARGV[7]
    removeDeduplicationKeyIfNeededOnFinalization(prefix, jobAttributes[3], jobId)
    -- Check if there is requeue data for this dedup ID (keepLastIfActive mode)
    if jobAttributes[3] then
      requeueDeduplicatedJob(prefix, jobAttributes[3], eventStreamKey,
          metaKey, KEYS[2], KEYS[1], KEYS[8], KEYS[14], KEYS[3], KEYS[10],
          KEYS[7], timestamp)
    end
    -- If job has a parent we need to
    -- 1) remove this job id from parents dependencies
    -- 2) move the job Id to parent "processed" set
    -- 3) push the results into parent "results" list
    -- 4) if parent's dependencies is empty, then move parent to "wait/paused". Note it may be a different queue!.
    if parentId == "" and parentKey ~= "" then
        parentId = getJobIdFromKey(parentKey)
        parentQueueKey = getJobKeyPrefix(parentKey, ":" .. parentId)
    end
    if parentId ~= "" then
        if ARGV[5] == "completed" then
            local dependenciesSet = parentKey .. ":dependencies"
            if rcall("SREM", dependenciesSet, jobIdKey) == 1 then
                updateParentDepsIfNeeded(parentKey, parentQueueKey, dependenciesSet, parentId, jobIdKey, ARGV[4],
                    timestamp)
            end
        else
            moveChildFromDependenciesIfNeeded(jobAttributes[2], jobIdKey, ARGV[4], timestamp)
        end
    end
    local attemptsMade = rcall("HINCRBY", jobIdKey, "atm", 1)
    -- Remove job?
    if maxCount ~= 0 then
        local targetSet = KEYS[11]
        -- Add to complete/failed set
        rcall("ZADD", targetSet, timestamp, jobId)
        rcall("HSET", jobIdKey, ARGV[3], ARGV[4], "finishedOn", timestamp)
        -- "returnvalue" / "failedReason" and "finishedOn"
        if ARGV[5] == "failed" then
            rcall("HDEL", jobIdKey, "defa")
        end
        -- Remove old jobs?
        if maxAge ~= nil then
            removeJobsByMaxAge(timestamp, maxAge, targetSet, prefix, maxLimit)
        end
        if maxCount ~= nil and maxCount > 0 then
            removeJobsByMaxCount(maxCount, targetSet, prefix)
        end
    else
        removeJobKeys(jobIdKey)
        if parentKey ~= "" then
            -- TODO: when a child is removed when finished, result or failure in parent
            -- must not be deleted, those value references should be deleted when the parent
            -- is deleted
            removeParentDependencyKey(jobIdKey, false, parentKey, jobAttributes[3])
        end
    end
    rcall("XADD", eventStreamKey, "*", "event", ARGV[5], "jobId", jobId, ARGV[3], ARGV[4], "prev", "active")
    if ARGV[5] == "failed" then
        if tonumber(attemptsMade) >= tonumber(attempts) then
            rcall("XADD", eventStreamKey, "*", "event", "retries-exhausted", "jobId", jobId, "attemptsMade",
                attemptsMade)
        end
    end
    -- Collect metrics
    if maxMetricsSize ~= "" then
        collectMetrics(KEYS[13], KEYS[13] .. ':data', maxMetricsSize, timestamp)
    end
    -- Try to get next job to avoid an extra roundtrip if the queue is not closing,
    -- and not rate limited.
    if (ARGV[6] == "1") then
        local result = fetchNextJob(KEYS[1], KEYS[2], KEYS[3], eventStreamKey,
            KEYS[6], KEYS[7], metaKey, KEYS[10], KEYS[14], prefix,
            timestamp, opts)
        if result then
            return result
        end
    end
    local waitLen = rcall("LLEN", KEYS[1])
    if waitLen == 0 then
        local activeLen = rcall("LLEN", KEYS[2])
        if activeLen == 0 then
            local prioritizedLen = rcall("ZCARD", KEYS[3])
            if prioritizedLen == 0 then
                rcall("XADD", eventStreamKey, "*", "event", "drained")
            end
        end
    end
    return 0
else
    return -1
end
`,keys:14},kr={name:`paginate`,content:`--[[
    Paginate a set or hash
    Input:
      KEYS[1] key pointing to the set or hash to be paginated.
      ARGV[1]  page start offset
      ARGV[2]  page end offset (-1 for all the elements)
      ARGV[3]  cursor
      ARGV[4]  offset
      ARGV[5]  max iterations
      ARGV[6]  fetch jobs?
    Output:
      [cursor, offset, items, numItems]
]]
local rcall = redis.call
-- Includes
--[[
  Function to achieve pagination for a set or hash.
  This function simulates pagination in the most efficient way possible
  for a set using sscan or hscan.
  The main limitation is that sets are not order preserving, so the
  pagination is not stable. This means that if the set is modified
  between pages, the same element may appear in different pages.
]] -- Maximum number of elements to be returned by sscan per iteration.
local maxCount = 100
-- Finds the cursor, and returns the first elements available for the requested page.
local function findPage(key, command, pageStart, pageSize, cursor, offset,
                        maxIterations, fetchJobs)
    local items = {}
    local jobs = {}
    local iterations = 0
    repeat
        -- Iterate over the set using sscan/hscan.
        local result = rcall(command, key, cursor, "COUNT", maxCount)
        cursor = result[1]
        local members = result[2]
        local step = 1
        if command == "HSCAN" then
            step = 2
        end
        if #members == 0 then
            -- If the result is empty, we can return the result.
            return cursor, offset, items, jobs
        end
        local chunkStart = offset
        local chunkEnd = offset + #members / step
        local pageEnd = pageStart + pageSize
        if chunkEnd < pageStart then
            -- If the chunk is before the page, we can skip it.
            offset = chunkEnd
        elseif chunkStart > pageEnd then
            -- If the chunk is after the page, we can return the result.
            return cursor, offset, items, jobs
        else
            -- If the chunk is overlapping the page, we need to add the elements to the result.
            for i = 1, #members, step do
                if offset >= pageEnd then
                    return cursor, offset, items, jobs
                end
                if offset >= pageStart then
                    local index = #items + 1
                    if fetchJobs ~= nil then
                        jobs[#jobs+1] = rcall("HGETALL", members[i])
                    end
                    if step == 2 then
                        items[index] = {members[i], members[i + 1]}
                    else
                        items[index] = members[i]
                    end
                end
                offset = offset + 1
            end
        end
        iterations = iterations + 1
    until cursor == "0" or iterations >= maxIterations
    return cursor, offset, items, jobs
end
local key = KEYS[1]
local scanCommand = "SSCAN"
local countCommand = "SCARD"
local type = rcall("TYPE", key)["ok"]
if type == "none" then
    return {0, 0, {}, 0}
elseif type == "hash" then
    scanCommand = "HSCAN"
    countCommand = "HLEN"
elseif type ~= "set" then
    return
        redis.error_reply("Pagination is only supported for sets and hashes.")
end
local numItems = rcall(countCommand, key)
local startOffset = tonumber(ARGV[1])
local endOffset = tonumber(ARGV[2])
if endOffset == -1 then 
  endOffset = numItems
end
local pageSize = (endOffset - startOffset) + 1
local cursor, offset, items, jobs = findPage(key, scanCommand, startOffset,
                                       pageSize, ARGV[3], tonumber(ARGV[4]),
                                       tonumber(ARGV[5]), ARGV[6])
return {cursor, offset, items, numItems, jobs}
`,keys:1},Ar={name:`pause`,content:`--[[
  Pauses or resumes a queue globally.
  Input:
    KEYS[1] 'wait' or 'paused'
    KEYS[2] 'paused' or 'wait'
    KEYS[3] 'meta'
    KEYS[4] 'prioritized'
    KEYS[5] events stream key
    KEYS[6] 'delayed'
    KEYS[7] 'marker'
    ARGV[1] 'paused' or 'resumed'
    ARGV[2] '1' to emit event, '0' to skip it
  Event:
    publish paused or resumed event.
]]
local rcall = redis.call
-- Includes
--[[
  Add delay marker if needed.
]]
-- Includes
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
local function addDelayMarkerIfNeeded(markerKey, delayedKey)
  local nextTimestamp = getNextDelayedTimestamp(delayedKey)
  if nextTimestamp ~= nil then
    -- Replace the score of the marker with the newest known
    -- next timestamp.
    rcall("ZADD", markerKey, nextTimestamp, "1")
  end
end
--[[
  Get count jobs in wait or prioritized.
]]
local function getWaitPlusPrioritizedCount(waitKey, prioritizedKey)
  local waitCount = rcall("LLEN", waitKey)
  local prioritizedCount = rcall("ZCARD", prioritizedKey)
  return waitCount + prioritizedCount
end
local markerKey = KEYS[7]
local emitEvent = ARGV[2] ~= "0"
local legacyPausedRemaining = 0
if ARGV[1] == "paused" then
    rcall("HSET", KEYS[3], "paused", 1)
    rcall("DEL", markerKey)
else
    rcall("HDEL", KEYS[3], "paused")
    --jobs in paused key
    local hasJobs = rcall("EXISTS", KEYS[1]) == 1
    if hasJobs then
        if rcall("EXISTS", KEYS[2]) == 0 then
            rcall("RENAME", KEYS[1], KEYS[2])
        else
            --move a maximum of 7000 jobs per resume call in order to not block
            --using LRANGE 0..6999 so each RPUSH argument list stays bounded
            --if users have more jobs in paused state, call resume multiple times
            local jobs = rcall('LRANGE', KEYS[1], 0, 6999)
            rcall("RPUSH", KEYS[2], unpack(jobs))
            rcall("LTRIM", KEYS[1], #jobs, -1)
            legacyPausedRemaining = rcall("LLEN", KEYS[1])
        end
    end
    if getWaitPlusPrioritizedCount(KEYS[2], KEYS[4]) > 0 then
        -- Add marker if there are waiting or priority jobs
        rcall("ZADD", markerKey, 0, "0")
    else
        addDelayMarkerIfNeeded(markerKey, KEYS[6])
    end
end
if emitEvent then
    rcall("XADD", KEYS[5], "*", "event", ARGV[1]);
end
return legacyPausedRemaining
`,keys:7},jr={name:`promote`,content:`--[[
  Promotes a job that is currently "delayed" to the "waiting" state
    Input:
      KEYS[1] 'delayed'
      KEYS[2] 'wait'
      KEYS[3] 'paused'
      KEYS[4] 'meta'
      KEYS[5] 'prioritized'
      KEYS[6] 'active'
      KEYS[7] 'pc' priority counter
      KEYS[8] 'event stream'
      KEYS[9] 'marker'
      ARGV[1]  queue.toKey('')
      ARGV[2]  jobId
    Output:
       0 - OK
      -3 - Job not in delayed zset.
    Events:
      'waiting'
]]
local rcall = redis.call
local jobId = ARGV[2]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
if rcall("ZREM", KEYS[1], jobId) == 1 then
    local jobKey = ARGV[1] .. jobId
    local priority = tonumber(rcall("HGET", jobKey, "priority")) or 0
    local metaKey = KEYS[4]
    local markerKey = KEYS[9]
    -- Remove delayed "marker" from the wait list if there is any.
    -- Since we are adding a job we do not need the marker anymore.
    -- Markers in waitlist DEPRECATED in v5: Remove in v6.
    local isPausedOrMaxed = isQueuePausedOrMaxed(metaKey, KEYS[6])
    local marker = rcall("LINDEX", KEYS[2], 0)
    if marker and string.sub(marker, 1, 2) == "0:" then rcall("LPOP", KEYS[2]) end
    if priority == 0 then
        -- LIFO or FIFO
        addJobInTargetList(KEYS[2], markerKey, "LPUSH", isPausedOrMaxed, jobId)
    else
        addJobWithPriority(markerKey, KEYS[5], priority, jobId, KEYS[7], isPausedOrMaxed)
    end
    rcall("XADD", KEYS[8], "*", "event", "waiting", "jobId", jobId, "prev",
          "delayed");
    rcall("HSET", jobKey, "delay", 0)
    return 0
else
    return -3
end
`,keys:9},Mr={name:`releaseLock`,content:`--[[
  Release lock
    Input:
      KEYS[1] 'lock',
      ARGV[1]  token
      ARGV[2]  lock duration in milliseconds
    Output:
      "OK" if lock extended successfully.
]]
local rcall = redis.call
if rcall("GET", KEYS[1]) == ARGV[1] then
  return rcall("DEL", KEYS[1])
else
  return 0
end
`,keys:1},Nr={name:`releaseParentIfNoPendingDependencies`,content:`--[[
  Moves a parent out of the waiting-children state if it has no pending
  dependencies left.
  This runs at the end of a flow insert, once every node of the tree has been
  added. During the insert itself a child that already exists and is completed
  only records its processed dependency (see updateExistingJobsParent); the
  parent cannot be released at that point because its remaining children have
  not been added to the dependencies set yet.
  It is a no-op unless the parent still exists and is still scored in its
  queue's waiting-children zset, so it is safe to call for every parent
  touched by a flow.
    Input:
      KEYS[1] parent key
      KEYS[2] parent dependencies key
      ARGV[1] parent queue key
      ARGV[2] parent id
      ARGV[3] timestamp
]]
local rcall = redis.call
if rcall("HGET", KEYS[1], "flowAttachmentFailed") then
    rcall("HDEL", KEYS[1], "flowAttachmentFailed")
    return
end
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized)
  if no pending dependencies.
]]
-- Includes
--[[
  Validate and move parent to a wait status (waiting, delayed or prioritized) if needed.
]]
-- Includes
--[[
  Move parent to a wait status (wait, prioritized or delayed)
]]
-- Includes
--[[
  Add delay marker if needed.
]]
-- Includes
--[[
  Function to return the next delayed job timestamp.
]]
local function getNextDelayedTimestamp(delayedKey)
  local result = rcall("ZRANGE", delayedKey, 0, 0, "WITHSCORES")
  if #result then
    local nextTimestamp = tonumber(result[2])
    if nextTimestamp ~= nil then
      return nextTimestamp / 0x1000
    end
  end
end
local function addDelayMarkerIfNeeded(markerKey, delayedKey)
  local nextTimestamp = getNextDelayedTimestamp(delayedKey)
  if nextTimestamp ~= nil then
    -- Replace the score of the marker with the newest known
    -- next timestamp.
    rcall("ZADD", markerKey, nextTimestamp, "1")
  end
end
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    local parentWaitKey = parentQueueKey .. ":wait"
    local parentActiveKey = parentQueueKey .. ":active"
    local parentMetaKey = parentQueueKey .. ":meta"
    local parentMarkerKey = parentQueueKey .. ":marker"
    local jobAttributes = rcall("HMGET", parentKey, "priority", "delay")
    local priority = tonumber(jobAttributes[1]) or 0
    local delay = tonumber(jobAttributes[2]) or 0
    if delay > 0 then
        local delayedTimestamp = tonumber(timestamp) + delay
        local score = delayedTimestamp * 0x1000
        local parentDelayedKey = parentQueueKey .. ":delayed"
        rcall("ZADD", parentDelayedKey, score, parentId)
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "delayed", "jobId", parentId, "delay",
            delayedTimestamp)
        addDelayMarkerIfNeeded(parentMarkerKey, parentDelayedKey)
    else
        if priority == 0 then
            local isParentPausedOrMaxed =
                isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobInTargetList(parentWaitKey, parentMarkerKey, "RPUSH", isParentPausedOrMaxed, parentId)
        else
            local isPausedOrMaxed = isQueuePausedOrMaxed(parentMetaKey, parentActiveKey)
            addJobWithPriority(parentMarkerKey, parentQueueKey .. ":prioritized", priority, parentId,
                parentQueueKey .. ":pc", isPausedOrMaxed)
        end
        rcall("XADD", parentQueueKey .. ":events", "*", "event", "waiting", "jobId", parentId, "prev",
            "waiting-children")
    end
end
local function moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  if rcall("EXISTS", parentKey) == 1 then
    local parentWaitingChildrenKey = parentQueueKey .. ":waiting-children"
    if rcall("ZSCORE", parentWaitingChildrenKey, parentId) then    
      rcall("ZREM", parentWaitingChildrenKey, parentId)
      moveParentToWait(parentQueueKey, parentKey, parentId, timestamp)
    end
  end
end
local function moveParentToWaitIfNoPendingDependencies(parentQueueKey, parentDependenciesKey, parentKey,
  parentId, timestamp)
  local doNotHavePendingDependencies = rcall("SCARD", parentDependenciesKey) == 0
  if doNotHavePendingDependencies then
    moveParentToWaitIfNeeded(parentQueueKey, parentKey, parentId, timestamp)
  end
end
moveParentToWaitIfNoPendingDependencies(ARGV[1], KEYS[2], KEYS[1], ARGV[2],
                                        ARGV[3])
`,keys:2},Pr={name:`removeDeduplicationKey`,content:`--[[
  Remove deduplication key if it matches the job id.
  Input:
    KEYS[1] deduplication key
    ARGV[1] job id
  Output:
    0 - false
    1 - true
]]
local rcall = redis.call
local deduplicationKey = KEYS[1]
local jobId = ARGV[1]
local currentJobId = rcall('GET', deduplicationKey)
if currentJobId and currentJobId == jobId then
  return rcall("DEL", deduplicationKey)
end
return 0
`,keys:1},Fr={name:`removeJob`,content:`--[[
    Remove a job from all the statuses it may be in as well as all its data.
    In order to be able to remove a job, it cannot be active.
    Input:
      KEYS[1] jobKey
      KEYS[2] repeat key
      ARGV[1] jobId
      ARGV[2] remove children
      ARGV[3] queue prefix
    Events:
      'removed'
]]
local rcall = redis.call
-- Includes
--[[
  Function to check if the job belongs to a job scheduler and
  current delayed job matches with jobId
]]
local function isJobSchedulerJob(jobId, jobKey, jobSchedulersKey)
  local repeatJobKey = rcall("HGET", jobKey, "rjk")
  if repeatJobKey  then
    local prevMillis = rcall("ZSCORE", jobSchedulersKey, repeatJobKey)
    if prevMillis then
      local currentDelayedJobId = "repeat:" .. repeatJobKey .. ":" .. prevMillis
      return jobId == currentDelayedJobId
    end
  end
  return false
end
--[[
  Function to recursively check if there are no locks
  on the jobs to be removed.
  returns:
    boolean
]]
--[[
  Functions to destructure job key.
  Just a bit of warning, these functions may be a bit slow and affect performance significantly.
]]
local getJobIdFromKey = function (jobKey)
  return string.match(jobKey, ".*:(.*)")
end
local getJobKeyPrefix = function (jobKey, jobId)
  return string.sub(jobKey, 0, #jobKey - #jobId)
end
local function isLocked( prefix, jobId, removeChildren)
  local jobKey = prefix .. jobId;
  -- Check if this job is locked
  local lockKey = jobKey .. ':lock'
  local lock = rcall("GET", lockKey)
  if not lock then
    if removeChildren == "1" then
      local dependencies = rcall("SMEMBERS", jobKey .. ":dependencies")
      if (#dependencies > 0) then
        for i, childJobKey in ipairs(dependencies) do
          -- We need to get the jobId for this job.
          local childJobId = getJobIdFromKey(childJobKey)
          local childJobPrefix = getJobKeyPrefix(childJobKey, childJobId)
          local result = isLocked( childJobPrefix, childJobId, removeChildren )
          if result then
            return true
          end
        end
      end
    end
    return false
  end
  return true
end
--[[
    Remove a job from all the statuses it may be in as well as all its data,
    including its children. Active children can be ignored.
    Events:
      'removed'
]]
local rcall = redis.call
-- Includes
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to remove deduplication key if needed
  when a job is being removed.
]]
local function removeDeduplicationKeyIfNeededOnRemoval(prefixKey,
  jobId, deduplicationId)
  if deduplicationId then
    local deduplicationKey = prefixKey .. "de:" .. deduplicationId
    local currentJobId = rcall('GET', deduplicationKey)
    if currentJobId and currentJobId == jobId then
      rcall("DEL", deduplicationKey)
      -- Also clean up any pending dedup-next data for this dedup ID
      rcall("DEL", prefixKey .. "dn:" .. deduplicationId)
      return 1
    end
  end
end
--[[
  Function to remove from any state.
  returns:
    prev state
]]
local function removeJobFromAnyState( prefix, jobId)
  -- We start with the ZSCORE checks, since they have O(1) complexity
  if rcall("ZSCORE", prefix .. "completed", jobId) then
    rcall("ZREM", prefix .. "completed", jobId)
    return "completed"
  elseif rcall("ZSCORE", prefix .. "waiting-children", jobId) then
    rcall("ZREM", prefix .. "waiting-children", jobId)
    return "waiting-children"
  elseif rcall("ZSCORE", prefix .. "delayed", jobId) then
    rcall("ZREM", prefix .. "delayed", jobId)
    return "delayed"
  elseif rcall("ZSCORE", prefix .. "failed", jobId) then
    rcall("ZREM", prefix .. "failed", jobId)
    return "failed"
  elseif rcall("ZSCORE", prefix .. "prioritized", jobId) then
    rcall("ZREM", prefix .. "prioritized", jobId)
    return "prioritized"
  -- We remove only 1 element from the list, since we assume they are not added multiple times
  elseif rcall("LREM", prefix .. "wait", 1, jobId) == 1 then
    return "wait"
  elseif rcall("LREM", prefix .. "paused", 1, jobId) == 1 then
    return "paused"
  elseif rcall("LREM", prefix .. "active", 1, jobId) == 1 then
    return "active"
  end
  return "unknown"
end
--[[
  Function to remove job keys.
]]
local function removeJobKeys(jobKey)
  return rcall("DEL", jobKey, jobKey .. ':logs', jobKey .. ':dependencies',
    jobKey .. ':processed', jobKey .. ':failed', jobKey .. ':unsuccessful')
end
--[[
  Check if this job has a parent. If so we will just remove it from
  the parent child list, but if it is the last child we should move the parent to "wait/paused"
  which requires code from "moveToFinished"
]]
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
local function _moveParentToWait(parentPrefix, parentId, emitEvent)
  local isPausedOrMaxed =
    isQueuePausedOrMaxed(parentPrefix .. "meta", parentPrefix .. "active")
  addJobInTargetList(parentPrefix .. "wait", parentPrefix .. "marker", "RPUSH", isPausedOrMaxed, parentId)
  if emitEvent then
    local parentEventStream = parentPrefix .. "events"
    rcall("XADD", parentEventStream, "*", "event", "waiting", "jobId", parentId, "prev", "waiting-children")
  end
end
local function removeParentDependencyKey(jobKey, hard, parentKey, baseKey, debounceId)
  if parentKey then
    local parentDependenciesKey = parentKey .. ":dependencies"
    local result = rcall("SREM", parentDependenciesKey, jobKey)
    if result > 0 then
      local pendingDependencies = rcall("SCARD", parentDependenciesKey)
      if pendingDependencies == 0 then
        local parentId = getJobIdFromKey(parentKey)
        local parentPrefix = getJobKeyPrefix(parentKey, parentId)
        local numRemovedElements = rcall("ZREM", parentPrefix .. "waiting-children", parentId)
        if numRemovedElements == 1 then
          if hard then -- remove parent in same queue
            if parentPrefix == baseKey then
              removeParentDependencyKey(parentKey, hard, nil, baseKey, nil)
              removeJobKeys(parentKey)
              if debounceId then
                rcall("DEL", parentPrefix .. "de:" .. debounceId)
              end
            else
              _moveParentToWait(parentPrefix, parentId)
            end
          else
            _moveParentToWait(parentPrefix, parentId, true)
          end
        end
      end
      return true
    end
  else
    local parentAttributes = rcall("HMGET", jobKey, "parentKey", "deid")
    local missedParentKey = parentAttributes[1]
    if( (type(missedParentKey) == "string") and missedParentKey ~= ""
      and (rcall("EXISTS", missedParentKey) == 1)) then
      local parentDependenciesKey = missedParentKey .. ":dependencies"
      local result = rcall("SREM", parentDependenciesKey, jobKey)
      if result > 0 then
        local pendingDependencies = rcall("SCARD", parentDependenciesKey)
        if pendingDependencies == 0 then
          local parentId = getJobIdFromKey(missedParentKey)
          local parentPrefix = getJobKeyPrefix(missedParentKey, parentId)
          local numRemovedElements = rcall("ZREM", parentPrefix .. "waiting-children", parentId)
          if numRemovedElements == 1 then
            if hard then
              if parentPrefix == baseKey then
                removeParentDependencyKey(missedParentKey, hard, nil, baseKey, nil)
                removeJobKeys(missedParentKey)
                if parentAttributes[2] then
                  rcall("DEL", parentPrefix .. "de:" .. parentAttributes[2])
                end
              else
                _moveParentToWait(parentPrefix, parentId)
              end
            else
              _moveParentToWait(parentPrefix, parentId, true)
            end
          end
        end
        return true
      end
    end
  end
  return false
end
local removeJobChildren
local removeJobWithChildren
removeJobChildren = function(prefix, jobKey, options)
    -- Check if this job has children
    -- If so, we are going to try to remove the children recursively in a depth-first way
    -- because if some job is locked, we must exit with an error.
    if not options.ignoreProcessed then
        local processed = rcall("HGETALL", jobKey .. ":processed")
        if #processed > 0 then
            for i = 1, #processed, 2 do
                local childJobId = getJobIdFromKey(processed[i])
                local childJobPrefix = getJobKeyPrefix(processed[i], childJobId)
                removeJobWithChildren(childJobPrefix, childJobId, jobKey, options)
            end
        end
        local failed = rcall("HGETALL", jobKey .. ":failed")
        if #failed > 0 then
            for i = 1, #failed, 2 do
                local childJobId = getJobIdFromKey(failed[i])
                local childJobPrefix = getJobKeyPrefix(failed[i], childJobId)
                removeJobWithChildren(childJobPrefix, childJobId, jobKey, options)
            end
        end
        local unsuccessful = rcall("ZRANGE", jobKey .. ":unsuccessful", 0, -1)
        if #unsuccessful > 0 then
            for i = 1, #unsuccessful, 1 do
                local childJobId = getJobIdFromKey(unsuccessful[i])
                local childJobPrefix = getJobKeyPrefix(unsuccessful[i], childJobId)
                removeJobWithChildren(childJobPrefix, childJobId, jobKey, options)
            end
        end
    end
    local dependencies = rcall("SMEMBERS", jobKey .. ":dependencies")
    if #dependencies > 0 then
        for i, childJobKey in ipairs(dependencies) do
            local childJobId = getJobIdFromKey(childJobKey)
            local childJobPrefix = getJobKeyPrefix(childJobKey, childJobId)
            removeJobWithChildren(childJobPrefix, childJobId, jobKey, options)
        end
    end
end
removeJobWithChildren = function(prefix, jobId, parentKey, options)
    local jobKey = prefix .. jobId
    if options.ignoreLocked then
        if isLocked(prefix, jobId) then
            return
        end
    end
    -- Check if job is in the failed zset
    local failedSet = prefix .. "failed"
    if not (options.ignoreProcessed and rcall("ZSCORE", failedSet, jobId)) then
        removeParentDependencyKey(jobKey, false, parentKey, nil)
        if options.removeChildren then
            removeJobChildren(prefix, jobKey, options)
        end
        local prev = removeJobFromAnyState(prefix, jobId)
        local deduplicationId = rcall("HGET", jobKey, "deid")
        removeDeduplicationKeyIfNeededOnRemoval(prefix, jobId, deduplicationId)
        if removeJobKeys(jobKey) > 0 then
            local metaKey = prefix .. "meta"
            local maxEvents = getOrSetMaxEvents(metaKey)
            rcall("XADD", prefix .. "events", "MAXLEN", "~", maxEvents, "*", "event", "removed",
                "jobId", jobId, "prev", prev)
        end
    end
end
local jobId = ARGV[1]
local shouldRemoveChildren = ARGV[2]
local prefix = ARGV[3]
local jobKey = KEYS[1]
local repeatKey = KEYS[2]
if isJobSchedulerJob(jobId, jobKey, repeatKey) then
    return -8
end
if not isLocked(prefix, jobId, shouldRemoveChildren) then
    local options = {
        removeChildren = shouldRemoveChildren == "1",
        ignoreProcessed = false,
        ignoreLocked = false
    }
    removeJobWithChildren(prefix, jobId, nil, options)
    return 1
end
return 0
`,keys:2},Ir={name:`removeOrphanedJobs`,content:`--[[
  Removes orphaned job keys that exist in Redis but are not referenced
  in any queue state set. Checks each candidate atomically.
  Input:
    KEYS[1]  base prefix key including trailing colon (e.g. bull:queueName:)
    ARGV[1]  number of state key suffixes
    ARGV[2 .. 1+N]  state key suffixes (e.g. active, wait, completed, ...)
    ARGV[2+N]  number of job sub-key suffixes
    ARGV[3+N .. 2+N+M]  job sub-key suffixes (e.g. logs, dependencies, ...)
    ARGV[3+N+M .. end]  candidate job IDs to check
  Output:
    number of removed jobs
]]
local rcall = redis.call
local basePrefix = KEYS[1]
-- Parse state key suffixes and cache their full key names + types.
local stateKeyCount = tonumber(ARGV[1])
local stateKeys = {}
local stateKeyTypes = {}
for i = 1, stateKeyCount do
  local fullKey = basePrefix .. ARGV[1 + i]
  stateKeys[i] = fullKey
  stateKeyTypes[i] = rcall('TYPE', fullKey)['ok']
end
-- Parse job sub-key suffixes.
local subKeyCountIdx = 2 + stateKeyCount
local subKeyCount = tonumber(ARGV[subKeyCountIdx])
local subKeySuffixes = {}
for i = 1, subKeyCount do
  subKeySuffixes[i] = ARGV[subKeyCountIdx + i]
end
-- Process candidate job IDs.
local candidateStart = subKeyCountIdx + subKeyCount + 1
local removedCount = 0
for c = candidateStart, #ARGV do
  local jobId = ARGV[c]
  local found = false
  for i = 1, stateKeyCount do
    local kt = stateKeyTypes[i]
    if kt == 'list' then
      if rcall('LPOS', stateKeys[i], jobId) then
        found = true
        break
      end
    elseif kt == 'zset' then
      if rcall('ZSCORE', stateKeys[i], jobId) then
        found = true
        break
      end
    elseif kt == 'set' then
      if rcall('SISMEMBER', stateKeys[i], jobId) == 1 then
        found = true
        break
      end
    end
  end
  if not found then
    local jobKey = basePrefix .. jobId
    local keysToDelete = { jobKey }
    for _, suffix in ipairs(subKeySuffixes) do
      keysToDelete[#keysToDelete + 1] = jobKey .. ':' .. suffix
    end
    rcall('DEL', unpack(keysToDelete))
    removedCount = removedCount + 1
  end
end
return removedCount
`,keys:1},Lr={name:`retryJob`,content:`--[[
  Retries a failed job by moving it back to the wait queue.
    Input:
      KEYS[1]  'active',
      KEYS[2]  'wait'
      KEYS[3]  'paused'
      KEYS[4]  job key
      KEYS[5]  'meta'
      KEYS[6]  events stream
      KEYS[7]  delayed key
      KEYS[8]  prioritized key
      KEYS[9]  'pc' priority counter
      KEYS[10] 'marker'
      KEYS[11] 'stalled'
      ARGV[1]  key prefix
      ARGV[2]  timestamp
      ARGV[3]  pushCmd
      ARGV[4]  jobId
      ARGV[5]  token
      ARGV[6]  optional job fields to update
    Events:
      'waiting'
    Output:
     0  - OK
     -1 - Missing key
     -2 - Missing lock
     -3 - Job not in active set
]]
local rcall = redis.call
-- Includes
--[[
  Function to add job in target list and add marker if needed.
]]
-- Includes
--[[
  Add marker if needed when a job is available.
]]
local function addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
  if not isPausedOrMaxed then
    rcall("ZADD", markerKey, 0, "0")
  end  
end
local function addJobInTargetList(targetKey, markerKey, pushCmd, isPausedOrMaxed, jobId)
  rcall(pushCmd, targetKey, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to add job considering priority.
]]
-- Includes
--[[
  Function to get priority score.
]]
local function getPriorityScore(priority, priorityCounterKey)
  local prioCounter = rcall("INCR", priorityCounterKey)
  return priority * 0x100000000 + prioCounter % 0x100000000
end
local function addJobWithPriority(markerKey, prioritizedKey, priority, jobId, priorityCounterKey,
  isPausedOrMaxed)
  local score = getPriorityScore(priority, priorityCounterKey)
  rcall("ZADD", prioritizedKey, score, jobId)
  addBaseMarkerIfNeeded(markerKey, isPausedOrMaxed)
end
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
--[[
  Function to check if queue is paused or maxed
  (since an empty list and !EXISTS are not really the same).
]]
local function isQueuePausedOrMaxed(queueMetaKey, activeKey)
  local queueAttributes = rcall("HMGET", queueMetaKey, "paused", "concurrency")
  if queueAttributes[1] then
    return true
  else
    if queueAttributes[2] then
      local activeCount = rcall("LLEN", activeKey)
      return activeCount >= tonumber(queueAttributes[2])
    end
  end
  return false
end
--[[
  Updates the delay set, by moving delayed jobs that should
  be processed now to "wait".
     Events:
      'waiting'
]]
-- Includes
-- Try to get as much as 1000 jobs at once
local function promoteDelayedJobs(delayedKey, markerKey, targetKey, prioritizedKey,
                                  eventStreamKey, prefix, timestamp, priorityCounterKey, isPaused)
    local jobs = rcall("ZRANGEBYSCORE", delayedKey, 0, (timestamp + 1) * 0x1000 - 1, "LIMIT", 0, 1000)
    if (#jobs > 0) then
        rcall("ZREM", delayedKey, unpack(jobs))
        for _, jobId in ipairs(jobs) do
            local jobKey = prefix .. jobId
            local priority =
                tonumber(rcall("HGET", jobKey, "priority")) or 0
            if priority == 0 then
                -- LIFO or FIFO
                rcall("LPUSH", targetKey, jobId)
            else
                local score = getPriorityScore(priority, priorityCounterKey)
                rcall("ZADD", prioritizedKey, score, jobId)
            end
            -- Emit waiting event
            rcall("XADD", eventStreamKey, "*", "event", "waiting", "jobId",
                  jobId, "prev", "delayed")
            rcall("HSET", jobKey, "delay", 0)
        end
        addBaseMarkerIfNeeded(markerKey, isPaused)
    end
end
local function removeLock(jobKey, stalledKey, token, jobId)
  if token ~= "0" then
    local lockKey = jobKey .. ':lock'
    local lockToken = rcall("GET", lockKey)
    if lockToken == token then
      rcall("DEL", lockKey)
      rcall("SREM", stalledKey, jobId)
    else
      if lockToken then
        -- Lock exists but token does not match
        return -6
      else
        -- Lock is missing completely
        return -2
      end
    end
  end
  return 0
end
--[[
  Function to update a bunch of fields in a job.
]]
local function updateJobFields(jobKey, msgpackedFields)
  if msgpackedFields and #msgpackedFields > 0 then
    local fieldsToUpdate = cmsgpack.unpack(msgpackedFields)
    if fieldsToUpdate then
      rcall("HMSET", jobKey, unpack(fieldsToUpdate))
    end
  end
end
local isPausedOrMaxed = isQueuePausedOrMaxed(KEYS[5], KEYS[1])
local markerKey = KEYS[10]
-- Check if there are delayed jobs that we can move to wait.
-- test example: when there are delayed jobs between retries
promoteDelayedJobs(KEYS[7], markerKey, KEYS[2], KEYS[8], KEYS[6], ARGV[1], ARGV[2], KEYS[9], isPausedOrMaxed)
local jobKey = KEYS[4]
if rcall("EXISTS", jobKey) == 1 then
  local errorCode = removeLock(jobKey, KEYS[11], ARGV[5], ARGV[4]) 
  if errorCode < 0 then
    return errorCode
  end
  updateJobFields(jobKey, ARGV[6])
  local numRemovedElements = rcall("LREM", KEYS[1], -1, ARGV[4])
  if (numRemovedElements < 1) then return -3 end
  local priority = tonumber(rcall("HGET", jobKey, "priority")) or 0
  --need to re-evaluate after removing job from active
  isPausedOrMaxed = isQueuePausedOrMaxed(KEYS[5], KEYS[1])
  -- Standard or priority add
  if priority == 0 then
    addJobInTargetList(KEYS[2], markerKey, ARGV[3], isPausedOrMaxed, ARGV[4])
  else
    addJobWithPriority(markerKey, KEYS[8], priority, ARGV[4], KEYS[9], isPausedOrMaxed)
  end
  rcall("HINCRBY", jobKey, "atm", 1)
  local maxEvents = getOrSetMaxEvents(KEYS[5])
  -- Emit waiting event
  rcall("XADD", KEYS[6], "MAXLEN", "~", maxEvents, "*", "event", "waiting",
    "jobId", ARGV[4], "prev", "active")
  return 0
else
  return -1
end
`,keys:11},Rr={name:`saveStacktrace`,content:`--[[
  Save stacktrace and failedReason.
  Input:
    KEYS[1] job key
    ARGV[1]  stacktrace
    ARGV[2]  failedReason
  Output:
     0 - OK
    -1 - Missing key
]]
local rcall = redis.call
if rcall("EXISTS", KEYS[1]) == 1 then
  rcall("HMSET", KEYS[1], "stacktrace", ARGV[1], "failedReason", ARGV[2])
  return 0
else
  return -1
end
`,keys:1},zr={name:`updateData`,content:`--[[
  Update job data
  Input:
    KEYS[1] Job id key
    ARGV[1] data
  Output:
    0 - OK
   -1 - Missing job.
]]
local rcall = redis.call
if rcall("EXISTS",KEYS[1]) == 1 then -- // Make sure job exists
  rcall("HSET", KEYS[1], "data", ARGV[1])
  return 0
else
  return -1
end
`,keys:1},Br={name:`updateProgress`,content:`--[[
  Update job progress
  Input:
    KEYS[1] Job id key
    KEYS[2] event stream key
    KEYS[3] meta key
    ARGV[1] id
    ARGV[2] progress
  Output:
     0 - OK
    -1 - Missing job.
  Event:
    progress(jobId, progress)
]]
local rcall = redis.call
-- Includes
--[[
  Function to get max events value or set by default 10000.
]]
local function getOrSetMaxEvents(metaKey)
  local maxEvents = rcall("HGET", metaKey, "opts.maxLenEvents")
  if not maxEvents then
    maxEvents = 10000
    rcall("HSET", metaKey, "opts.maxLenEvents", maxEvents)
  end
  return maxEvents
end
if rcall("EXISTS", KEYS[1]) == 1 then -- // Make sure job exists
    local maxEvents = getOrSetMaxEvents(KEYS[3])
    rcall("HSET", KEYS[1], "progress", ARGV[2])
    rcall("XADD", KEYS[2], "MAXLEN", "~", maxEvents, "*", "event", "progress",
          "jobId", ARGV[1], "data", ARGV[2]);
    return 0
else
    return -1
end
`,keys:3};var Vr=/* @__PURE__ */ n({addLog:()=>sr,addStandardJob:()=>cr,extendLock:()=>lr,extendLocks:()=>ur,getCounts:()=>dr,getCountsPerPriority:()=>fr,getDependencyCounts:()=>pr,getJobs:()=>mr,getMetrics:()=>hr,getRanges:()=>gr,getRateLimitTtl:()=>_r,getState:()=>vr,getStateV2:()=>yr,isFinished:()=>br,isJobInList:()=>xr,isMaxed:()=>Sr,moveJobFromActiveToWait:()=>Cr,moveJobsToWait:()=>wr,moveStalledJobsToWait:()=>Tr,moveToActive:()=>Er,moveToDelayed:()=>Dr,moveToFinished:()=>Or,paginate:()=>kr,pause:()=>Ar,promote:()=>jr,releaseLock:()=>Mr,releaseParentIfNoPendingDependencies:()=>Nr,removeDeduplicationKey:()=>Pr,removeJob:()=>Fr,removeOrphanedJobs:()=>Ir,retryJob:()=>Lr,saveStacktrace:()=>Rr,updateData:()=>zr,updateProgress:()=>Br});const Hr=/* @__PURE__ */ new WeakMap;function Ur(e){if(e.__bullmq_iredis===!0)return e;let t=Hr.get(e);if(t)return t;let n=e.isCluster===!0,r=/* @__PURE__ */ new Map,i=Object.create(null);i.__bullmq_iredis=!0,i.isCluster=n,i.runCommand=(t,n)=>e[t](n),i.pipeline=(...t)=>Wr(e.pipeline(...t)),i.multi=(...t)=>Wr(e.multi(...t)),typeof e.duplicate==`function`&&(i.duplicate=t=>{if(n){let n=e.options?.redisOptions||{},r=t?Object.assign(Object.assign({},n),t):n;return Ur(e.duplicate(void 0,{redisOptions:r}))}return Ur(e.duplicate(t))}),i.hset=(t,n,...r)=>{if(typeof n==`string`)return e.hset(t,n,...r);let i=[t];for(let[e,t]of Object.entries(n))i.push(e,t);return e.hset(...i)},i.set=(t,n,r,...i)=>{if(typeof r==`string`||r==null)return e.set(t,n,...r==null?[]:[r,...i]);let a=[t,n];return r.PX==null?r.EX!=null&&a.push(`EX`,r.EX):a.push(`PX`,r.PX),e.set(...a)},i.zrange=(t,n,r,i,...a)=>typeof i==`string`?e.zrange(t,n,r,i,...a):i?.WITHSCORES?e.zrange(t,n,r,`WITHSCORES`):e.zrange(t,n,r),i.zrevrange=(t,n,r,i,...a)=>typeof i==`string`?e.zrevrange(t,n,r,i,...a):i?.WITHSCORES?e.zrevrange(t,n,r,`WITHSCORES`):e.zrevrange(t,n,r),i.xadd=(t,n,r,...i)=>{if(typeof r==`string`)return e.xadd(t,n,r,...i);let a=i[0],o=[t];a?.MAXLEN!=null&&(o.push(`MAXLEN`),a.approximate!==!1&&o.push(`~`),o.push(a.MAXLEN)),o.push(n);for(let[e,t]of Object.entries(r))o.push(e,t);return e.xadd(...o)},i.xread=(t,...n)=>{if(typeof t==`string`)return e.xread(t,...n);let r=n[0],i=[];r?.BLOCK!=null&&i.push(`BLOCK`,r.BLOCK),r?.COUNT!=null&&i.push(`COUNT`,r.COUNT),i.push(`STREAMS`);for(let e of t)i.push(e.key);for(let e of t)i.push(e.id);return e.xread(...i)},i.xtrim=(t,n,r,...i)=>{if(typeof r==`string`||i.length===0)return e.xtrim(t,n,r,...i);let a=i[0],o=[t,n];return a?.approximate!==!1&&o.push(`~`),o.push(r),e.xtrim(...o)},i.clientSetName=t=>e.client(`SETNAME`,t),i.clientList=()=>e.client(`LIST`),i.clientInfo=()=>e.client(`INFO`),i.scan=(t,...n)=>{if(n.length===0||typeof n[0]==`string`||typeof n[0]==`function`)return e.scan(t,...n);let r=n[0],i=[t];return r?.MATCH!=null&&i.push(`MATCH`,r.MATCH),r?.COUNT!=null&&i.push(`COUNT`,r.COUNT),e.scan(...i)};let a=new Proxy(e,{get(e,t){if(t in i)return i[t];let n=Reflect.get(e,t,e);if(typeof n!=`function`)return n;if(Object.prototype.hasOwnProperty.call(e,t))return n.bind(e);let a=r.get(t);if(a!==void 0)return a;let o=n.bind(e);return r.set(t,o),o},set(e,t,n){return t in i?(i[t]=n,!0):(r.delete(t),Reflect.set(e,t,n))},deleteProperty(e,t){return t in i?!1:(r.delete(t),Reflect.deleteProperty(e,t))},has(e,t){return t in i||Reflect.has(e,t)}});return Hr.set(e,a),a}function Wr(e){let t=e;t.runCommand=function(e,n){return t[e](n),t};let n=t.hset.bind(t);t.hset=function(e,r){let i=[e];for(let[e,t]of Object.entries(r))i.push(e,t);return n(...i),t};let r=t.hscan.bind(t);t.hscan=function(e,n,i){return i?.COUNT==null?r(e,n):r(e,n,`COUNT`,i.COUNT),t};let i=t.sscan.bind(t);return t.sscan=function(e,n,r){return r?.COUNT==null?i(e,n):i(e,n,`COUNT`,r.COUNT),t},t}function Gr(e){return!e||typeof e!=`object`?!1:e.__bullmq_iredis===!0||typeof e.runCommand==`function`&&typeof e.defineCommand==`function`&&typeof e.pipeline==`function`&&typeof e.multi==`function`&&typeof e.duplicate==`function`&&typeof e.scanStream==`function`&&typeof e.connect==`function`&&typeof e.disconnect==`function`&&typeof e.on==`function`&&typeof e.status==`string`&&typeof e.isCluster==`boolean`}s();const Kr=/* @__PURE__ */ c(`bullmq/dist/esm/classes/node-redis-client.js createNodeRedisClient`);s();const qr=/* @__PURE__ */ c(`bullmq/dist/esm/classes/bun-redis-client.js createBunRedisClient`),Jr=Symbol(`bullmqClusterReconnectPromise`),Yr=Symbol(`bullmqClusterPatchedForBlocking`),Xr=Symbol(`bullmqClusterOriginalBzpopmin`),Zr=Symbol(`bullmqClusterWrappedBzpopmin`),Qr=Symbol(`bullmqClusterPatchRefCount`),$r=Symbol(`bullmqClusterClosingRefCount`),ei=3e4;function ti(){try{if(typeof e==`function`){let e=l();return e.default??e}}catch{}throw Error("BullMQ could not load the optional 'ioredis' package. Install it with `npm install ioredis`, or provide a different Redis client instance (e.g. node-redis) via the connection option. In a native ESM environment, pass an already-constructed client instance instead of connection options.")}function ni(e){if(Gr(e))return e;let t=typeof e.defineCommand==`function`;return!t&&typeof e.sendCommand==`function`&&(`isOpen`in e||`isReady`in e)?Kr(e):!t&&typeof e.send==`function`&&`connected`in e?qr(e):Ur(e)}var ri=class e extends _{constructor(e,t){if(super(),this.extraOptions=t,this.capabilities={canDoubleTimeout:!1,canBlockFor1Ms:!0},this.status=`initializing`,this.dbType=`redis`,this.packageVersion=Xn,this.disabledBlockingClusterReconnect=!1,this.extraOptions=Object.assign({shared:!1,blocking:!0,skipVersionCheck:!1,skipWaitingForReady:!1,clusterReconnectTimeoutMs:ei},t),!at(e))this.checkBlockingOptions(`BullMQ: WARNING! Your redis options maxRetriesPerRequest must be null and will be overridden by BullMQ.`,e),this.opts=Object.assign({port:6379,host:`127.0.0.1`,retryStrategy:function(e){return Math.max(Math.min(Math.exp(e),2e4),1e3)}},e),this.extraOptions.blocking&&(this.opts.maxRetriesPerRequest=null);else{if(this._client=ni(e),this._client.options.keyPrefix)throw Error(`BullMQ: ioredis does not support ioredis prefixes, use the prefix option instead.`);this.opts=this._client.isCluster?this._client.options.redisOptions:this._client.options,this.checkBlockingOptions(`BullMQ: Your redis options maxRetriesPerRequest must be null.`,this.opts,!0)}this.skipVersionCheck=t?.skipVersionCheck||!!(this.opts&&this.opts.skipVersionCheck),this.handleClientError=e=>{this.emit(`error`,e)},this.handleClientClose=()=>{this.emit(`close`)},this.handleClientReady=()=>{this.emit(`ready`)},this.initializing=this.init(),this.initializing.catch(e=>{this.listenerCount(`error`)>0&&this.emit(`error`,e)})}checkBlockingOptions(e,t,n=!1){if(this.extraOptions.blocking&&t&&t.maxRetriesPerRequest){if(n)throw Error(e);console.error(e)}}static async waitUntilReady(e){if(e.status===`ready`||e.status===`connect`&&ot(e))return;if(e.status===`wait`)return e.connect();if(e.status===`end`)throw new ne(te);let t,n,r;try{await new Promise((i,a)=>{let o;r=e=>{o=e},t=()=>{i()},n=()=>{e.status===`end`?o?a(o):i():a(o||new ne(`Connection is closed.`))},tt(e,3),e.once(`ready`,t),e.on(`end`,n),e.once(`error`,r)})}finally{e.removeListener(`end`,n),e.removeListener(`error`,r),e.removeListener(`ready`,t),st(e,3)}}get client(){return this.initializing}loadCommands(e,t){let n=t||Vr;for(let t in n){let r=`${n[t].name}:${e}`;this._client[r]||this._client.defineCommand(r,{numberOfKeys:n[t].keys,lua:n[t].content})}}async init(){if(!this._client){if(e.clientFactory)this._client=e.clientFactory(this.opts);else{let e=this.opts,{url:t}=e,n=or(e,[`url`]),r=ti(),i=t?new r(t,n):new r(n);this._client=Ur(i)}}if(tt(this._client,3),this._client.on(`error`,this.handleClientError),this._client.on(`close`,this.handleClientClose),this._client.on(`ready`,this.handleClientReady),this.patchBlockingClusterClient(),this.extraOptions.skipWaitingForReady||await e.waitUntilReady(this._client),this.loadCommands(this.packageVersion),this._client.status!==`end`){let t=await this.getRedisVersionAndType();if(this.version=t.version,this.dbType=t.databaseType,this.skipVersionCheck!==!0&&!this.closing){if(dt(this.version,e.minimumVersion,this.dbType))throw Error(`Redis version needs to be greater or equal than ${e.minimumVersion} Current: ${this.version}`);dt(this.version,e.recommendedMinimumVersion,this.dbType)&&console.warn(`It is highly recommended to use a minimum Redis version of ${e.recommendedMinimumVersion}
             Current: ${this.version}`)}this.capabilities={canDoubleTimeout:!dt(this.version,`6.0.0`,this.dbType),canBlockFor1Ms:!dt(this.version,`7.0.8`,this.dbType)},this.status=`ready`}return this._client}patchBlockingClusterClient(){let t=this._client,n=t;if(!this.extraOptions.blocking||!ot(t)||typeof n.bzpopmin!=`function`)return;let r=this.extraOptions.clusterReconnectTimeoutMs??ei;if(n[Qr]=(n[Qr]||0)+1,this.patchedBlockingClusterClient=n,n[Yr])return;let i=n.bzpopmin,a=(...t)=>e.runWithClusterRecovery(n,r,()=>i.apply(n,t));n[Xr]=i,n[Zr]=a,n[Yr]=!0,n.bzpopmin=a}runWithClusterRecovery(t){let n=this.patchedBlockingClusterClient;return n?e.runWithClusterRecovery(n,this.extraOptions.clusterReconnectTimeoutMs??ei,t):t()}static async runWithClusterRecovery(t,n,r){await e.reconnectClusterIfNeeded(t,n);try{return await r()}catch(r){let i=r;if(e.shouldReconnectClusterAfterError(t,i))try{await e.reconnectCluster(t,n)}catch{}throw i}}disableBlockingClusterReconnect(){let e=this.patchedBlockingClusterClient;e&&!this.disabledBlockingClusterReconnect&&(e[$r]=(e[$r]||0)+1,this.disabledBlockingClusterReconnect=!0)}releaseBlockingClusterClientPatch(){let e=this.patchedBlockingClusterClient;if(!e)return;if(this.disabledBlockingClusterReconnect){let t=(e[$r]||1)-1;t>0?e[$r]=t:delete e[$r],this.disabledBlockingClusterReconnect=!1}let t=(e[Qr]||1)-1;t>0?(e[Qr]=t,this.patchedBlockingClusterClient=void 0):(e[Xr]&&e.bzpopmin===e[Zr]&&(e.bzpopmin=e[Xr]),delete e[Qr],delete e[$r],delete e[Xr],delete e[Zr],delete e[Yr],this.patchedBlockingClusterClient=void 0)}static isClusterWithEmptyNodes(e){return typeof e.nodes==`function`&&e.nodes().length===0}static isReconnectingDisabled(e){let t=e[Qr]||0,n=e[$r]||0;return t===0||n>=t||e.status===`end`||e.status===`closing`}static async reconnectClusterIfNeeded(t,n){!e.isReconnectingDisabled(t)&&e.isClusterWithEmptyNodes(t)&&await e.reconnectCluster(t,n)}static shouldReconnectClusterAfterError(t,n){if(e.isReconnectingDisabled(t))return!1;let r=[n.message,n.cause?.message,n.lastNodeError?.message].join(` `);return e.isClusterWithEmptyNodes(t)||/Command timed out|Failed to refresh slots cache/i.test(r)}static async reconnectCluster(t,n){e.isReconnectingDisabled(t)||(t[Jr]||(t[Jr]=e.connectClusterWithTimeout(t,n).finally(()=>{t[Jr]=null})),await t[Jr])}static async connectClusterWithTimeout(e,t){e.disconnect(!1);let n;try{await Promise.race([e.connect(),new Promise((e,r)=>{var i;n=setTimeout(()=>{r(new ne(`BullMQ: cluster reconnect timed out after ${t}ms`))},t),(i=n.unref)==null||i.call(n)})])}finally{n&&clearTimeout(n)}}async disconnect(e=!0){let t=await this.client;if(t.status!==`end`){let n,r;if(!e)return t.disconnect();let i=new Promise((e,i)=>{tt(t,2),t.once(`end`,e),t.once(`error`,i),n=e,r=i});t.disconnect();try{await i}finally{st(t,2),t.removeListener(`end`,n),t.removeListener(`error`,r)}}}async reconnect(){let t=await this.client;for(;;){if(t.status===`ready`||t.status===`connect`&&ot(t))return;if(t.status===`wait`||t.status===`end`)return t.connect();try{await e.waitUntilReady(t)}catch(e){if(![`end`,`connecting`,`connect`,`reconnecting`].includes(t.status))throw e}}}async close(e=!1){var t;if(!this.closing){let n=this.status;this.status=`closing`,this.closing=!0,this.disableBlockingClusterReconnect();try{n===`ready`&&await this.initializing,this.extraOptions.shared||(n==`initializing`||e?(this._client.disconnect(),(t=this.initializing)==null||t.catch(()=>{})):await this._client.quit(),this._client.status=`end`)}catch(e){if(ut(e))throw e}finally{this.releaseBlockingClusterClientPatch(),this._client.off(`error`,this.handleClientError),this._client.off(`close`,this.handleClientClose),this._client.off(`ready`,this.handleClientReady),st(this._client,3),this.removeAllListeners(),this.status=`closed`}}}async getRedisVersionAndType(){if(this.skipVersionCheck)return{version:e.minimumVersion,databaseType:`redis`};let t=(await this._client.info()).split(/\r?\n/),n,r=`redis`;for(let e=0;e<t.length;e++){let i=t[e];if(i.includes(`dragonfly_version:`)||i.includes(`server:Dragonfly`)?(r=`dragonfly`,i.indexOf(`dragonfly_version:`)===0&&(n=i.substr(18))):i.includes(`valkey_version:`)||i.includes(`server:Valkey`)?(r=`valkey`,i.indexOf(`valkey_version:`)===0&&(n=i.substr(15))):i.indexOf(`redis_version:`)===0&&(n=i.substr(14),r===`redis`&&(r=`redis`)),i.indexOf(`maxmemory_policy:`)===0){let e=i.substr(17);e!==`noeviction`&&console.warn(`IMPORTANT! Eviction policy is ${e}. It should be "noeviction"`)}}if(!n){for(let e of t)if(e.includes(`version:`)){let t=e.split(`:`);if(t.length>=2){n=t[1];break}}}return{version:n||e.minimumVersion,databaseType:r}}get redisVersion(){return this.version}get databaseType(){return this.dbType}};ri.minimumVersion=`5.0.0`,ri.recommendedMinimumVersion=`6.2.0`;const ii=(e,t)=>Gr(e)||typeof e.defineCommand==`function`?(Gr(e)?e:Ur(e)).duplicate(t?{connectionName:t}:void 0):e.duplicate(t?{name:t}:void 0),ai=(e,t)=>{let n=Buffer.from(e).toString(`base64`),r=t.name,i=`${t.prefix??`bull`}:${n}${r?`:w:${r}`:``}`;return new ri(at(t.connection)?ii(t.connection,i):Object.assign(Object.assign({},t.connection),{connectionName:i}),{shared:!1,blocking:!0,skipVersionCheck:t.skipVersionCheck})};let oi=(e,t,{blocking:n=!1,withBlockingConnection:r=!1}={})=>{let i=new ri(n&&at(t.connection)?ii(t.connection):t.connection,{shared:!n&&at(t.connection),blocking:n,skipVersionCheck:t.skipVersionCheck,skipWaitingForReady:t.skipWaitingForReady}),a=r?ai(e,t):void 0,o=new Qn(t.prefix);return new tr(i,e,o.getKeys(e),t=>o.toKey(e,t),t,a)};function si(){return oi}const ci=h(`bull`),li=2**21-1;var ui=class e{constructor(e,t,n,r={},i){this.queue=e,this.name=t,this.data=n,this.opts=r,this.id=i,this.progress=0,this.returnvalue=null,this.stacktrace=null,this.delay=0,this.priority=0,this.attemptsStarted=0,this.attemptsMade=0,this.stalledCounter=0;let a=this.opts,{repeatJobKey:o}=a,s=or(a,[`repeatJobKey`]);this.opts=Object.assign({attempts:0},s),this.delay=this.opts.delay,this.priority=this.opts.priority||0,this.repeatJobKey=o,this.timestamp=r.timestamp?r.timestamp:Date.now(),this.opts.backoff=S.normalize(r.backoff),this.parentKey=ct(r.parent),r.parent&&(this.parent={id:r.parent.id,queueKey:r.parent.queue},r.failParentOnFailure&&(this.parent.fpof=!0),r.removeDependencyOnFailure&&(this.parent.rdof=!0),r.ignoreDependencyOnFailure&&(this.parent.idof=!0),r.continueParentOnFailure&&(this.parent.cpof=!0)),this.deduplicationId=this.opts.deduplication?.id,this.toKey=e.toKey.bind(e),this.createBackend(),this.queueQualifiedName=e.qualifiedName}static async create(e,t,n,r){let i=new this(e,t,n,r,r&&r.jobId),a=i.asJSON();return i.validateOptions(a),i.id=await i.backend.addJob(a,i.id,{parentKey:i.parentKey,parentDependenciesKey:i.parentKey?`${i.parentKey}:dependencies`:``}),i}static async createBulk(e,t){let n=t.map(t=>new this(e,t.name,t.data,t.opts,t.opts?.jobId)),r=e.backend,i=n.map(e=>{let t=e.asJSON();return e.validateOptions(t),{job:t,jobId:e.id,parentKeyOpts:{parentKey:e.parentKey,parentDependenciesKey:e.parentKey?`${e.parentKey}:dependencies`:``}}}),a=await r.addJobs(i);return n.forEach((e,t)=>{e.id=a[t]}),n}static fromJSON(e,t,n){let r=JSON.parse(t.data||`{}`),i=new this(e,t.name,r,t.opts,t.id||n);return i.progress=t.progress??0,i.delay=t.delay,i.priority=t.priority,i.timestamp=t.timestamp,t.finishedOn&&(i.finishedOn=t.finishedOn),t.processedOn&&(i.processedOn=t.processedOn),t.repeatJobKey&&(i.repeatJobKey=t.repeatJobKey),t.deduplicationId&&(i.deduplicationId=t.deduplicationId),t.failedReason&&(i.failedReason=t.failedReason),i.attemptsStarted=t.attemptsStarted??0,i.attemptsMade=t.attemptsMade??0,i.stalledCounter=t.stalledCounter??0,t.deferredFailure&&(i.deferredFailure=t.deferredFailure),i.stacktrace=di(t.stacktrace),typeof t.returnvalue==`string`&&(i.returnvalue=fi(t.returnvalue)),i.parentKey=t.parentKey?t.parentKey:void 0,i.parent=t.parent?t.parent:void 0,t.processedBy&&(i.processedBy=t.processedBy),i}createBackend(){this.backend=this.queue.backend}static optsFromJSON(e,t=rt){let n=JSON.parse(e||`{}`),r=Object.entries(n),i={};for(let e of r){let[n,r]=e;t[n]?i[t[n]]=r:n===`tm`?i.telemetry=Object.assign(Object.assign({},i.telemetry),{metadata:r}):n===`omc`?i.telemetry=Object.assign(Object.assign({},i.telemetry),{omitContext:r}):i[n]=r}return i}static async fromId(e,t){if(t){let n=await e.backend.getJobData(t);return n?this.fromJSON(e,n,t):void 0}}static addJobLog(e,t,n,r){return e.backend.addLog(t,n,r)}toJSON(){let e=this,{queue:t,backend:n}=e;return or(e,[`queue`,`backend`])}asJSON(){return pt({id:this.id,name:this.name,data:JSON.stringify(this.data===void 0?{}:this.data),opts:this.opts,parent:this.parent?Object.assign({},this.parent):void 0,parentKey:this.parentKey,progress:this.progress,attemptsMade:this.attemptsMade,attemptsStarted:this.attemptsStarted,stalledCounter:this.stalledCounter,finishedOn:this.finishedOn,processedOn:this.processedOn,timestamp:this.timestamp,failedReason:JSON.stringify(this.failedReason),stacktrace:JSON.stringify(this.stacktrace),deduplicationId:this.deduplicationId,repeatJobKey:this.repeatJobKey,returnvalue:JSON.stringify(this.returnvalue)})}asJSONSandbox(){return Object.assign(Object.assign({},this.asJSON()),{queueName:this.queueName,queueQualifiedName:this.queueQualifiedName,prefix:this.prefix})}updateData(e){return this.data=e,this.backend.updateData(this,e)}async updateProgress(e){this.progress=e,await this.backend.updateProgress(this.id,e),this.queue.emit(`progress`,this,e)}async log(t){return e.addJobLog(this.queue,this.id,t,this.opts.keepLogs)}async removeChildDependency(){return await this.backend.removeChildDependency(this.id,this.parentKey)?(this.parent=void 0,this.parentKey=void 0,!0):!1}async clearLogs(e){await this.backend.clearLogs(this.id,e)}async remove({removeChildren:e=!0}={}){await this.queue.waitUntilReady();let t=this.queue,n=this;if(await this.backend.remove(n.id,e))t.emit(`removed`,n);else throw Error(`Job ${this.id} could not be removed because it is locked by another worker`)}async removeUnprocessedChildren(){let e=this.id;await this.backend.removeUnprocessedChildren(e)}extendLock(e,t){return this.backend.extendLock(this.id,e,t)}async moveToCompleted(e,t,n=!0){return this.queue.trace(N.INTERNAL,`complete`,this.queue.name,async r=>{if(this.setSpanJobAttributes(r),await this.queue.waitUntilReady(),this.returnvalue=e||void 0,Ye(JSON.stringify,JSON,[e])===Je)throw Je.value;let{result:i,finishedOn:a}=await this.backend.moveToCompleted(this,e,this.opts.removeOnComplete,t,n);return this.finishedOn=a,this.attemptsMade+=1,this.recordJobMetrics(`completed`),i})}async moveToWait(e){let t=await this.backend.moveJobFromActiveToWait(this.id,e);return this.recordJobMetrics(`waiting`),t}async shouldRetryJob(e){let t=this.queue.opts,n=e instanceof yt||e.name==`UnrecoverableError`,r=!!t.maxStartedAttempts&&t.maxStartedAttempts<=this.attemptsStarted;if(this.attemptsMade+1<this.opts.attempts&&!n&&!r){let n=await S.calculate(this.opts.backoff,this.attemptsMade+1,e,this,t.settings&&t.settings.backoffStrategy);return[n!=-1,n==-1?0:n]}return[!1,0]}async moveToFailed(e,t,n=!1){this.failedReason=e?.message;let[r,i]=await this.shouldRetryJob(e);return this.queue.trace(N.INTERNAL,this.getSpanOperation(r,i),this.queue.name,async(a,o)=>{this.setSpanJobAttributes(a);let s;!this.opts?.telemetry?.omitContext&&o&&(s=o);let c;this.updateStacktrace(e);let l={failedReason:this.failedReason,stacktrace:JSON.stringify(this.stacktrace),tm:s},u;if(r)i?(c=await this.backend.moveToDelayed(this.id,Date.now(),i,t,{fieldsToUpdate:l,fetchNext:n}),this.recordJobMetrics(`delayed`)):(c=await this.backend.retryJob(this.id,this.opts.lifo,t,{fieldsToUpdate:l}),this.recordJobMetrics(`retried`));else{let e=await this.backend.moveToFailed(this,this.failedReason,this.opts.removeOnFail,t,n,l);c=e.result,u=e.finishedOn,this.recordJobMetrics(`failed`)}return u&&typeof u==`number`&&(this.finishedOn=u),i&&typeof i==`number`&&(this.delay=i),this.attemptsMade+=1,c})}getSpanOperation(e,t){return e?t?`delay`:`retry`:`fail`}recordJobMetrics(e){let t=this.queue.opts?.telemetry?.meter;if(!t)return;let n={[j.QueueName]:this.queue.name,[j.JobName]:this.name,[j.JobState]:e},r={completed:M.JobsCompleted,failed:M.JobsFailed,delayed:M.JobsDelayed,retried:M.JobsRetried,waiting:M.JobsWaiting,"waiting-children":M.JobsWaitingChildren}[e];if(t.createCounter(r,{description:`Number of jobs ${e}`,unit:`1`}).add(1,n),this.processedOn){let e=Date.now()-this.processedOn;t.createHistogram(M.JobDuration,{description:`Job processing duration`,unit:`ms`}).record(e,n)}}isCompleted(){return this.isInState(`completed`)}isFailed(){return this.isInState(`failed`)}isDelayed(){return this.isInState(`delayed`)}isWaitingChildren(){return this.isInState(`waiting-children`)}isActive(){return this.isInState(`active`)}async isWaiting(){return this.isInState(`waiting`)}get queueName(){return this.queue.name}get prefix(){let e=this.queueQualifiedName,t=this.queueName;return e.length>t.length+1?e.slice(0,e.length-t.length-1):``}getState(){return this.backend.getState(this.id)}async changeDelay(e){await this.backend.changeDelay(this.id,e),this.delay=e}async changePriority(e){await this.backend.changePriority(this.id,e.priority,e.lifo),this.priority=e.priority||0}async getChildrenValues(){let e=await this.backend.getProcessedChildrenValues(this.id);if(e)return ft(e)}async getIgnoredChildrenFailures(){return this.backend.getIgnoredChildrenFailures(this.id)}async getFailedChildrenValues(){return this.backend.getIgnoredChildrenFailures(this.id)}async getDependencies(e={}){return this.backend.getDependencies(this.id,e)}async getDependenciesCount(e={}){let t=[];Object.entries(e).forEach(([e,n])=>{n&&t.push(e)});let n=t.length?t:[`processed`,`unprocessed`,`ignored`,`failed`],r=await this.backend.getDependencyCounts(this.id,n),i={};return r.forEach((e,t)=>{i[`${n[t]}`]=e||0}),i}async waitUntilFinished(e,t){await this.queue.waitUntilReady();let n=this.id;return new Promise(async(r,i)=>{let a;t&&(a=setTimeout(()=>s(`Job wait ${this.name} timed out before finishing, no finish notification arrived after ${t}ms (id=${n})`),t));function o(e){u(),r(e.returnvalue)}function s(e){u(),i(Error(e.failedReason||e))}let c=`completed:${n}`,l=`failed:${n}`;e.on(c,o),e.on(l,s),this.queue.on(`closing`,s);let u=()=>{clearInterval(a),e.removeListener(c,o),e.removeListener(l,s),this.queue.removeListener(`closing`,s)};await e.waitUntilReady();let[d,f]=await this.backend.isFinished(n,!0);d!=0&&(d==-1||d==2?s({failedReason:f}):o({returnvalue:fi(f)}))})}async moveToDelayed(e,t){let n=Date.now(),r=e-n,i=r>0?r:0;await this.backend.moveToDelayed(this.id,n,i,t,{skipAttempt:!0}),this.delay=i,this.recordJobMetrics(`delayed`)}async moveToWaitingChildren(e,t={}){let n=await this.backend.moveToWaitingChildren(this.id,e,t);return n&&this.recordJobMetrics(`waiting-children`),n}async promote(){let e=this.id;await this.backend.promote(e),this.delay=0}async retry(e=`failed`,t={}){await this.backend.retryFinishedJob(this,e,t),this.failedReason=null,this.finishedOn=null,this.processedOn=null,this.returnvalue=null,t.resetAttemptsMade&&(this.attemptsMade=0),t.resetAttemptsStarted&&(this.attemptsStarted=0)}async isInState(e){return this.backend.isJobInState(e,this.id)}addJob(e,t){let n=this.asJSON();return this.validateOptions(n),this.backend.addJobToTransaction(e,n,this.id,t)}toFlowEntry(e={}){let t=this.asJSON();return this.validateOptions(t),{jobData:t,jobId:this.id,parentKeyOpts:e,prefix:this.prefix,queueName:this.queueName}}async removeDeduplicationKey(){return this.deduplicationId?await this.backend.removeDeduplicationKey(this.deduplicationId,this.id)>0:!1}validateOptions(e){let t=[`removeDependencyOnFailure`,`failParentOnFailure`,`continueParentOnFailure`,`ignoreDependencyOnFailure`];if(this.opts.sizeLimit&&Xe(e.data)>this.opts.sizeLimit)throw Error(`The size of job ${this.name} exceeds the limit ${this.opts.sizeLimit} bytes`);let n=t.filter(e=>this.opts[e]);if(n.length>1){let e=n.join(`, `);throw Error(`The following options cannot be used together: ${e}`)}if(this.opts?.jobId){if(`${parseInt(this.opts.jobId,10)}`===this.opts?.jobId)throw Error(`Custom Id cannot be integers`);if(this.opts?.jobId.includes(`:`)&&(this.opts?.jobId)?.split(`:`).length!==3)throw Error(`Custom Id cannot contain :`)}if(this.opts.priority){if(Math.trunc(this.opts.priority)!==this.opts.priority)throw Error(`Priority should not be float`);if(this.opts.priority>li)throw Error(`Priority should be between 0 and ${li}`)}if(this.opts.deduplication){if(!this.opts.deduplication?.id)throw Error(`Deduplication id must be provided`);if(this.parentKey)throw Error(`Deduplication and parent options cannot be used together`)}if(Object.prototype.hasOwnProperty.call(this.opts,`debounce`))throw Error(`Debounce option has been removed. Use deduplication option instead`);if(typeof this.opts.backoff==`object`&&typeof this.opts.backoff.jitter==`number`&&(this.opts.backoff.jitter<0||this.opts.backoff.jitter>1))throw Error(`Jitter should be between 0 and 1`)}updateStacktrace(e){this.stacktrace=this.stacktrace||[],e?.stack&&(this.stacktrace.push(e.stack),this.opts.stackTraceLimit===0?this.stacktrace=[]:this.opts.stackTraceLimit&&(this.stacktrace=this.stacktrace.slice(-this.opts.stackTraceLimit)))}setSpanJobAttributes(e){e?.setAttributes({[j.JobName]:this.name,[j.JobId]:this.id})}};function di(e){if(!e)return[];let t=Ye(JSON.parse,JSON,[e]);return t===Je||!(t instanceof Array)?[]:t}function fi(e){let t=Ye(JSON.parse,JSON,[e]);if(t!==Je)return t;ci(`corrupted returnvalue: `+e,t)}s();function pi(e){return/* @__PURE__ */ Error(`Legacy repeatable job metadata is not supported in BullMQ v6 (key: "${e}"). Migrate legacy repeatable jobs to Job Schedulers before upgrading. See ${LEGACY_REPEATABLE_JOBS_MIGRATION_URL}`)}const mi=/* @__PURE__ */ c(`bullmq/dist/esm/classes/job-scheduler.js hasLegacyRepeatableKeyShape`),hi=/* @__PURE__ */ c(`bullmq/dist/esm/classes/job-scheduler.js JobScheduler`);var gi=class{constructor(e,t){this.worker=e,this.opts=t,this.trackedJobs=/* @__PURE__ */ new Map,this.closed=!1}start(){this.closed||this.opts.lockRenewTime>0&&this.startLockExtenderTimer()}async extendLocks(e){await this.worker.trace(N.INTERNAL,`extendLocks`,this.worker.name,async t=>{t?.setAttributes({[j.WorkerId]:this.opts.workerId,[j.WorkerName]:this.opts.workerName,[j.WorkerJobsToExtendLocks]:e});try{let t=e.map(e=>this.trackedJobs.get(e)?.token||``),n=await this.worker.extendJobLocks(e,t,this.opts.lockDuration);if(n.length>0){this.worker.emit(`lockRenewalFailed`,n);for(let e of n)this.worker.emit(`error`,/* @__PURE__ */ Error(`could not renew lock for job ${e}`))}let r=e.filter(e=>!n.includes(e));r.length>0&&this.worker.emit(`locksRenewed`,{count:r.length,jobIds:r})}catch(e){this.worker.emit(`error`,e)}})}startLockExtenderTimer(){clearTimeout(this.lockRenewalTimer),this.closed||(this.lockRenewalTimer=setTimeout(async()=>{let e=Date.now(),t=[];for(let n of this.trackedJobs.keys()){let{ts:r,token:i,abortController:a}=this.trackedJobs.get(n);r?r+this.opts.lockRenewTime/2<e&&(this.trackedJobs.set(n,{token:i,ts:e,abortController:a}),t.push(n)):this.trackedJobs.set(n,{token:i,ts:e,abortController:a})}t.length&&await this.extendLocks(t),this.startLockExtenderTimer()},this.opts.lockRenewTime/2))}async close(){this.closed||(this.closed=!0,this.lockRenewalTimer&&=(clearTimeout(this.lockRenewalTimer),void 0),this.trackedJobs.clear())}trackJob(e,t,n,r=!1){let i=r?new E:void 0;return!this.closed&&e&&this.trackedJobs.set(e,{token:t,ts:n,abortController:i}),i}untrackJob(e){this.trackedJobs.delete(e)}getActiveJobCount(){return this.trackedJobs.size}isRunning(){return!this.closed&&this.lockRenewalTimer!==void 0}cancelJob(e,t){let n=this.trackedJobs.get(e);return n?.abortController?(n.abortController.abort(t),!0):!1}cancelAllJobs(e){for(let t of this.trackedJobs.values())t.abortController&&t.abortController.abort(e)}getTrackedJobIds(){return Array.from(this.trackedJobs.keys())}},_i=class extends _{constructor(e,t,n,r=!1){if(super(),this.closed=!1,this.hasBlockingConnection=!1,this.name=e,this.backendFactory=n??si(),this.hasBlockingConnection=r,this.opts=Object.assign(t===void 0?{connection:{}}:{},t),!e)throw Error(`Queue name must be provided`);if(e.includes(`:`))throw Error(`Queue name cannot contain :`);this.createBackend(),this.qualifiedName=this.backend.qualifiedName,this.keys=this.backend.keys,this.toKey=e=>this.backend.toKey(e),this.backend.on(`error`,e=>this.emit(`error`,e)),this.backend.on(`close`,()=>{this.closing||this.emit(`ioredis:close`)})}waitUntilReady(){return this.backend.waitUntilReady()}getBackend(){return this.backend}createBackend(){this.backend=this.backendFactory(this.name,this.opts,{blocking:this.hasBlockingConnection})}get Job(){return ui}emit(e,...t){try{return super.emit(e,...t)}catch(e){try{return super.emit(`error`,e)}catch(e){return console.error(e),!1}}}base64Name(){return Buffer.from(this.name).toString(`base64`)}clientName(e=``){return this.backend.clientName(e)}async close(){this.closing||=this.backend.close(),await this.closing,this.closed=!0}disconnect(){return this.backend.disconnect()}async checkConnectionError(e,t=5e3){try{return await e()}catch(e){if(ut(e)&&this.emit(`error`,e),!this.closing&&t)await et(t);else return}}trace(e,t,n,r,i){return mt(this.opts.telemetry,e,this.name,t,n,r,i)}};function vi(e){return String(e).replace(/\\/g,`\\\\`).replace(/"/g,`\\"`).replace(/\n/g,`\\n`)}var yi=class extends _i{getJob(e){return this.Job.fromId(this,e)}commandByType(e,t,n){return e.map(e=>{e=e===`waiting`?`wait`:e;let r=this.toKey(e);switch(e){case`completed`:case`failed`:case`delayed`:case`prioritized`:case`repeat`:case`waiting-children`:return n(r,t?`zcard`:`zrange`);case`active`:case`wait`:return n(r,t?`llen`:`lrange`)}})}sanitizeJobTypes(e){let t=typeof e==`string`?[e]:e;if(Array.isArray(t)&&t.length>0){let e=[...t];return[...new Set(e)]}return[`active`,`completed`,`delayed`,`failed`,`prioritized`,`waiting`,`waiting-children`]}async count(){return await this.getJobCountByTypes(`waiting`,`delayed`,`prioritized`,`waiting-children`)}async getRateLimitTtl(e){return this.backend.getRateLimitTtl(e)}async getDebounceJobId(e){return this.backend.getDeduplicationJobId(e)}async getDeduplicationJobId(e){return this.backend.getDeduplicationJobId(e)}async getGlobalConcurrency(){let e=await this.backend.getQueueMetaField(`concurrency`);return e?Number(e):null}async getGlobalRateLimit(){let[e,t]=await this.backend.getQueueMetaFields([`max`,`duration`]);return e&&t?{max:Number(e),duration:Number(t)}:null}async getJobCountByTypes(...e){let t=await this.getJobCounts(...e);return Object.values(t).reduce((e,t)=>e+t,0)}async getJobCounts(...e){let t=this.sanitizeJobTypes(e),n=await this.backend.getCounts(t),r={};return n.forEach((e,n)=>{r[t[n]]=e||0}),r}async recordJobCountsMetric(...e){let t=await this.getJobCounts(...e),n=this.opts.telemetry?.meter;if(n){let e=n.createGauge(M.QueueJobsCount,{description:`Number of jobs in the queue by state`,unit:`{jobs}`});for(let[n,r]of Object.entries(t))e.record(r,{[j.QueueName]:this.name,[j.QueueJobsState]:n})}return t}getJobState(e){return this.backend.getState(e)}async getMeta(){let e=await this.backend.getQueueMeta(),{concurrency:t,max:n,duration:r,paused:i,"opts.maxLenEvents":a}=e,o=or(e,[`concurrency`,`max`,`duration`,`paused`,`opts.maxLenEvents`]);return t&&(o.concurrency=Number(t)),a&&(o.maxLenEvents=Number(a)),n&&(o.max=Number(n)),r&&(o.duration=Number(r)),o.paused=i===`1`,o}getCompletedCount(){return this.getJobCountByTypes(`completed`)}getFailedCount(){return this.getJobCountByTypes(`failed`)}async getDelayedCount(e){if(e===void 0)return this.getJobCountByTypes(`delayed`);if(!Number.isSafeInteger(e))throw Error(`timestamp must be a safe integer in milliseconds`);let[t]=await this.backend.getCounts([`delayed`],e);return t}getActiveCount(){return this.getJobCountByTypes(`active`)}getPrioritizedCount(){return this.getJobCountByTypes(`prioritized`)}async getCountsPerPriority(e){let t=[...new Set(e)],n=await this.backend.getCountsPerPriority(t),r={};return n.forEach((e,n)=>{r[`${t[n]}`]=e||0}),r}getWaitingCount(){return this.getJobCountByTypes(`waiting`)}getWaitingChildrenCount(){return this.getJobCountByTypes(`waiting-children`)}getWaiting(e=0,t=-1){return this.getJobs([`waiting`],e,t,!0)}getWaitingChildren(e=0,t=-1){return this.getJobs([`waiting-children`],e,t,!0)}getActive(e=0,t=-1){return this.getJobs([`active`],e,t,!0)}getDelayed(e=0,t=-1){return this.getJobs([`delayed`],e,t,!0)}getPrioritized(e=0,t=-1){return this.getJobs([`prioritized`],e,t,!0)}getCompleted(e=0,t=-1){return this.getJobs([`completed`],e,t,!1)}getFailed(e=0,t=-1){return this.getJobs([`failed`],e,t,!1)}async getDependencies(e,t,n,r){let i=this.toKey(t==`processed`?`${e}:processed`:`${e}:dependencies`),{items:a,total:o,jobs:s}=await this.backend.paginate(i,{start:n,end:r,fetchJobs:!0});return{items:a,jobs:s,total:o}}async getRanges(e,t=0,n=1,r=!1){let i=[];this.commandByType(e,!1,(e,t)=>{switch(t){case`lrange`:i.push(`lrange`);break;case`zrange`:i.push(`zrange`)}});let a=await this.backend.getRanges(e,t,n,r),o=[];return a.forEach((e,t)=>{let n=e||[];o=r&&i[t]===`lrange`?o.concat(n.reverse()):o.concat(n)}),[...new Set(o)]}async getJobs(e,t=0,n=-1,r=!1){let i=this.sanitizeJobTypes(e),a,o=this.getBackend();if(o instanceof tr){let e=await o.getJobs(i,t,n,r),s=/* @__PURE__ */ new Set;a=e.reduce((e,t)=>{for(let[n]of t||[])s.has(n)||(s.add(n),e.push(n));return e},[])}else a=await this.getRanges(i,t,n,r);return(await Promise.all(a.map(e=>this.getJob(e)))).filter(Boolean)}async getJobLogs(e,t=0,n=-1,r=!0){return this.backend.getJobLogs(e,t,n,r)}async baseGetClients(e){try{let t=await this.backend.getClientList();return t.length>1?t.map(t=>this.parseClientList(t,e)).reduce((e,t)=>e.length>t.length?e:t,[]):this.parseClientList(t[0]??``,e)}catch(e){if(!lt.test(e.message))throw e;return[{name:`GCP does not support client list`}]}}getWorkers(){let e=`${this.clientName()}`,t=`${this.clientName()}:w:`;return this.baseGetClients(n=>n&&(n===e||n.startsWith(t)))}async getWorkersCount(){return(await this.getWorkers()).length}async getQueueEvents(){let e=`${this.clientName()}:qe`;return this.baseGetClients(t=>t===e)}async getMetrics(e,t=0,n=-1){let[r,i,a]=await this.backend.getMetrics(e,t,n);return{meta:{count:parseInt(r[0]||`0`,10),prevTS:parseInt(r[1]||`0`,10),prevCount:parseInt(r[2]||`0`,10)},data:i.map(e=>+e||0),count:a}}parseClientList(e,t){let n=e.split(/\r?\n/),r=[];return n.forEach(e=>{let n={};e.split(` `).forEach(function(e){let t=e.indexOf(`=`),r=e.substring(0,t),i=e.substring(t+1);n[r]=i});let i=n.name;t(i)&&(n.name=this.name,n.rawname=i,r.push(n))}),r}async exportPrometheusMetrics(e){let t=await this.getJobCounts(),n=[];n.push(`# HELP bullmq_job_count Number of jobs in the queue by state`),n.push(`# TYPE bullmq_job_count gauge`);let r=vi(this.name),i=e?Object.keys(e).reduce((t,n)=>`${t}, ${n}="${vi(e[n])}"`,``):``;for(let[e,a]of Object.entries(t))n.push(`bullmq_job_count{queue="${r}", state="${e}"${i}} ${a}`);let[a,o]=await Promise.all([this.getMetrics(`completed`),this.getMetrics(`failed`)]);return n.push(`# HELP bullmq_job_completed_total Total number of completed jobs`),n.push(`# TYPE bullmq_job_completed_total counter`),n.push(`bullmq_job_completed_total{queue="${r}"${i}} ${a.meta.count}`),n.push(`# HELP bullmq_job_failed_total Total number of failed jobs`),n.push(`# TYPE bullmq_job_failed_total counter`),n.push(`bullmq_job_failed_total{queue="${r}"${i}} ${o.meta.count}`),n.join(`
`)}},bi=class extends yi{constructor(e,t,n){super(e,t,n),this.token=p(),this.libName=`bullmq`,this.jobsOpts=t?.defaultJobOptions??{},this.queueMetaInitialized=this.waitUntilReady().then(()=>{if(!this.closing&&!t?.skipMetasUpdate)return this.backend.setQueueMeta(this.metaValues).then(()=>void 0)}).catch(e=>{})}emit(e,...t){return super.emit(e,...t)}off(e,t){return super.off(e,t),this}on(e,t){return super.on(e,t),this}once(e,t){return super.once(e,t),this}get defaultJobOptions(){return Object.assign({},this.jobsOpts)}get metaValues(){return{"opts.maxLenEvents":this.opts?.streams?.events?.maxLen??1e4,version:`${this.libName}:${Xn}`}}async getVersion(){return this.opts?.skipMetasUpdate||await this.queueMetaInitialized,await this.backend.getQueueMetaField(`version`)}get jobScheduler(){return new Promise(async e=>{this._jobScheduler||(this._jobScheduler=new hi(this.name,this.opts,()=>this.backend),this._jobScheduler.on(`error`,this.emit.bind(this,`error`))),e(this._jobScheduler)})}async setGlobalConcurrency(e){return this.backend.setQueueMeta({concurrency:e})}async setGlobalRateLimit(e,t){return this.backend.setQueueMeta({max:e,duration:t})}async removeGlobalConcurrency(){return this.backend.removeQueueMetaFields([`concurrency`])}async removeGlobalRateLimit(){return this.backend.removeQueueMetaFields([`max`,`duration`])}async add(e,t,n){return this.trace(N.PRODUCER,`add`,`${this.name}.${e}`,async(r,i)=>{if(i&&!n?.telemetry?.omitContext){let e={metadata:i};n=Object.assign(Object.assign({},n),{telemetry:e})}let a=await this.addJob(e,t,n);return r?.setAttributes({[j.JobName]:e,[j.JobId]:a.id}),a})}async addJob(e,t,n){let r=n?.jobId;if(r==`0`||r?.startsWith(`0:`))throw Error(`JobId cannot be '0' or start with '0:'`);let i=Object.assign(Object.assign(Object.assign({},this.jobsOpts),n),{jobId:r}),a=await this.Job.create(this,e,t,i);return this.emit(`waiting`,a),a}async addBulk(e){return this.trace(N.PRODUCER,`addBulk`,this.name,async(t,n)=>(t&&t.setAttributes({[j.BulkNames]:e.map(e=>e.name),[j.BulkCount]:e.length}),await this.Job.createBulk(this,e.map(e=>{let t=e.opts?.telemetry;if(n){let r=e.opts?.telemetry?.omitContext,i=e.opts?.telemetry?.metadata||!r&&n;(i||r)&&(t={metadata:i,omitContext:r})}let r=Object.assign(Object.assign(Object.assign({},this.jobsOpts),e.opts),{jobId:e.opts?.jobId,telemetry:t});return{name:e.name,data:e.data,opts:r}}))))}async upsertJobScheduler(e,t,n){if(t.endDate&&+new Date(t.endDate)<Date.now())throw Error(`End date must be greater than current timestamp`);return(await this.jobScheduler).upsertJobScheduler(e,t,n?.name??e,n?.data??{},Object.assign(Object.assign({},this.jobsOpts),n?.opts),{override:!0})}async pause(){await this.trace(N.INTERNAL,`pause`,this.name,async()=>{await this.backend.pause(!0),this.emit(`paused`)})}async close(){await this.trace(N.INTERNAL,`close`,this.name,async()=>{await super.close()})}async rateLimit(e){await this.trace(N.INTERNAL,`rateLimit`,this.name,async t=>{t?.setAttributes({[j.QueueRateLimit]:e}),await this.backend.setRateLimit(e)})}async resume(){await this.trace(N.INTERNAL,`resume`,this.name,async()=>{await this.backend.pause(!1),this.emit(`resumed`)})}async isPaused(){return this.backend.hasQueueMetaField(`paused`)}isMaxed(){return this.backend.isMaxed()}async getJobScheduler(e){return(await this.jobScheduler).getScheduler(e)}async getJobSchedulers(e,t,n){return(await this.jobScheduler).getJobSchedulers(e,t,n)}async getJobSchedulersCount(){return(await this.jobScheduler).getSchedulersCount()}async removeJobScheduler(e){return!await(await this.jobScheduler).removeJobScheduler(e)}async removeDebounceKey(e){return this.trace(N.INTERNAL,`removeDebounceKey`,`${this.name}`,async t=>(t?.setAttributes({[j.JobKey]:e}),await this.backend.deleteDeduplicationKey(e)))}async removeDeduplicationKey(e){return this.trace(N.INTERNAL,`removeDeduplicationKey`,`${this.name}`,async t=>(t?.setAttributes({[j.DeduplicationKey]:e}),this.backend.deleteDeduplicationKey(e)))}async removeRateLimitKey(){return this.backend.removeRateLimitKey()}async remove(e,{removeChildren:t=!0}={}){return this.trace(N.INTERNAL,`remove`,this.name,async n=>{n?.setAttributes({[j.JobId]:e,[j.JobOptions]:JSON.stringify({removeChildren:t})});let r=await this.backend.remove(e,t);return r===1&&this.emit(`removed`,e),r})}async updateJobProgress(e,t){await this.trace(N.INTERNAL,`updateJobProgress`,this.name,async n=>{n?.setAttributes({[j.JobId]:e,[j.JobProgress]:JSON.stringify(t)}),await this.backend.updateProgress(e,t),this.emit(`progress`,e,t)})}async addJobLog(e,t,n){return ui.addJobLog(this,e,t,n)}async drain(e=!1){await this.trace(N.INTERNAL,`drain`,this.name,async t=>{t?.setAttributes({[j.QueueDrainDelay]:e}),await this.backend.drain(e)})}async clean(e,t,n=`completed`){return this.trace(N.INTERNAL,`clean`,this.name,async r=>{let i=t||1/0,a=Math.min(1e4,i),o=Date.now()-e,s=0,c=[],l=n===`waiting`?`wait`:n;for(;s<i;){let e=await this.backend.cleanJobsByState(l,o,a);if(this.emit(`cleaned`,e,l),s+=e.length,c.push(...e),e.length<a)break}return r?.setAttributes({[j.QueueGrace]:e,[j.JobType]:n,[j.QueueCleanLimit]:i,[j.QueueCleanCount]:s}),c})}async obliterate(e){await this.trace(N.INTERNAL,`obliterate`,this.name,async()=>{await this.pause();let t=0;do t=await this.backend.obliterate(Object.assign({force:!1,count:1e3},e));while(t)})}async retryJobs(e={}){await this.trace(N.PRODUCER,`retryJobs`,this.name,async t=>{t?.setAttributes({[j.QueueOptions]:JSON.stringify(e)});let n=0;do n=await this.backend.retryFinishedJobs(e.state,e.count,e.timestamp);while(n)})}async promoteJobs(e={}){await this.trace(N.INTERNAL,`promoteJobs`,this.name,async t=>{t?.setAttributes({[j.QueueOptions]:JSON.stringify(e)});let n=0;do n=await this.backend.promoteJobs(e.count);while(n)})}async trimEvents(e){return this.trace(N.INTERNAL,`trimEvents`,this.name,async t=>(t?.setAttributes({[j.QueueEventMaxLength]:e}),await this.backend.trimEvents(e)))}async removeDeprecatedPriorityKey(){return this.backend.removeDeprecatedPriorityKey()}async removeOrphanedJobs(e=1e3,t=0){return this.backend.removeOrphanedJobs(e,t)}};s();const xi=/* @__PURE__ */ c(`bullmq/dist/esm/classes/sandbox.js default`);var Si=class extends _i{static RateLimitError(){return new vt}constructor(e,t,n,r){if(!n||n.connection===void 0||n.connection===null)throw Error(`Worker requires a connection`);if(super(e,Object.assign(Object.assign({drainDelay:5,concurrency:1,lockDuration:3e4,maximumRateLimitDelay:3e4,maxStalledCount:1,stalledInterval:3e4,autorun:!0,runRetryDelay:15e3},n),{blockingConnection:!0}),r),this.abortDelayController=null,this.blockUntil=0,this.drained=!1,this.limitUntil=0,this.processorAcceptsSignal=!1,this.stalledCheckerGeneration=0,this.waiting=null,this.mainLoopQueue=null,this.running=!1,this.mainLoopRunning=null,typeof this.opts.maxStalledCount!=`number`||this.opts.maxStalledCount<0)throw Error(`maxStalledCount must be greater or equal than 0`);if(typeof this.opts.maxStartedAttempts==`number`&&this.opts.maxStartedAttempts<0)throw Error(`maxStartedAttempts must be greater or equal than 0`);if(typeof this.opts.stalledInterval!=`number`||this.opts.stalledInterval<=0)throw Error(`stalledInterval must be greater than 0`);if(typeof this.opts.drainDelay!=`number`||this.opts.drainDelay<=0)throw Error(`drainDelay must be greater than 0`);if(this.concurrency=this.opts.concurrency,this.opts.lockRenewTime=this.opts.lockRenewTime||this.opts.lockDuration/2,this.id=p(),this.createLockManager(),t){if(typeof t==`function`)this.processFn=t,this.processorAcceptsSignal=t.length>=3;else{if(t instanceof g){if(!u.existsSync(t))throw Error(`URL ${t} does not exist in the local file system`);t=t.href}else{let e=t+([`.js`,`.ts`,`.flow`,`.cjs`,`.mjs`].includes(m.extname(t))?``:`.js`);if(!u.existsSync(e))throw Error(`File ${e} does not exist`)}let e=m.dirname(module.filename||import.meta.filename),n=m.join(e,`main-worker.js`),r=m.join(e,`main.js`),i=this.opts.useWorkerThreads?n:r;try{u.statSync(i)}catch{let e=this.opts.useWorkerThreads?`main-worker.js`:`main.js`;i=m.join(process.cwd(),`dist/cjs/classes/${e}`),u.statSync(i)}this.childPool=new w({mainFile:i,useWorkerThreads:this.opts.useWorkerThreads,workerForkOptions:this.opts.workerForkOptions,workerThreadsOptions:this.opts.workerThreadsOptions}),this.createSandbox(t),this.processorAcceptsSignal=!0}this.opts.autorun&&this.run().catch(e=>this.emit(`error`,e))}this.backend.waitUntilReady().then(()=>setTimeout(()=>this.emit(`ready`),0)).catch(()=>{})}createBackend(){this.backend=this.backendFactory(this.name,this.opts,{withBlockingConnection:!0})}createLockManager(){this.lockManager=new gi(this,{lockRenewTime:this.opts.lockRenewTime,lockDuration:this.opts.lockDuration,workerId:this.id,workerName:this.opts.name})}createSandbox(e){this.processFn=xi(e,this.childPool).bind(this)}async extendJobLocks(e,t,n){return this.backend.extendLocks(e,t,n)}emit(e,...t){return super.emit(e,...t)}off(e,t){return super.off(e,t),this}on(e,t){return super.on(e,t),this}once(e,t){return super.once(e,t),this}callProcessJob(e,t,n){return this.processFn(e,t,n)}createJob(e,t){return this.Job.fromJSON(this,e,t)}async waitUntilReady(){await super.waitUntilReady()}cancelJob(e,t){return this.lockManager.cancelJob(e,t)}cancelAllJobs(e){this.lockManager.cancelAllJobs(e)}set concurrency(e){if(typeof e!=`number`||e<1||!isFinite(e))throw Error(`concurrency must be a finite number greater than 0`);this._concurrency=e}get concurrency(){return this._concurrency}get jobScheduler(){return new Promise(async e=>{this._jobScheduler||(this._jobScheduler=new hi(this.name,this.opts,()=>this.backend),this._jobScheduler.on(`error`,this.emit.bind(this,`error`))),e(this._jobScheduler)})}async run(){if(!this.processFn)throw Error(`No process function is defined.`);if(this.running)throw Error(`Worker is already running.`);try{if(this.running=!0,this.closing||this.paused)return;await this.startStalledCheckTimer(),this.opts.skipLockRenewal||this.lockManager.start(),this.mainLoopRunning=this.mainLoop(),await this.mainLoopRunning}finally{this.running=!1}}async waitForRateLimit(){var e;let t=this.limitUntil;if(t>Date.now()){(e=this.abortDelayController)==null||e.abort(),this.abortDelayController=new E;let n=this.getRateLimitDelay(t-Date.now());await this.delay(n,this.abortDelayController),this.drained=!1,this.limitUntil=0}}async mainLoop(){let e=new x;this.mainLoopQueue=e;let t=0;for(;!this.closing&&!this.paused||e.numTotal()>0;){for(;!this.closing&&!this.paused&&!this.waiting&&e.numTotal()<this._concurrency&&!this.isRateLimited();){let n=`${this.id}:${t++}`,r=this.retryIfFailed(()=>this._getNextJob(n,{block:!0}),{delayInMs:this.opts.runRetryDelay,onlyEmitError:!0});if(e.add(r),this.waiting&&e.numTotal()>1||!await r&&e.numTotal()>1||this.blockUntil)break}let n;do n=await e.fetch();while(!n&&e.numQueued()>0);if(n){let t=n.token;e.add(this.processJob(n,t,()=>e.numTotal()<=this._concurrency))}else e.numQueued()===0&&await this.waitForRateLimit()}this.mainLoopQueue===e&&(this.mainLoopQueue=null)}async getNextJob(e,{block:t=!0}={}){let n=await this._getNextJob(e,{block:t});return this.trace(N.INTERNAL,`getNextJob`,this.name,async e=>(e?.setAttributes({[j.WorkerId]:this.id,[j.QueueName]:this.name,[j.WorkerName]:this.opts.name,[j.WorkerOptions]:JSON.stringify({block:t}),[j.JobId]:n?.id}),n),n?.opts?.telemetry?.metadata)}async _getNextJob(e,{block:t=!0}={}){if(this.paused||this.closing)return;let n;if(this.drained&&t&&!this.limitUntil&&!this.waiting){this.waiting=this.waitForJob(this.blockUntil);try{this.blockUntil=await this.waiting,(this.blockUntil<=0||this.blockUntil-Date.now()<1)&&(n=await this.moveToActive(e,this.opts.name))}finally{this.waiting=null}}else this.isRateLimited()||(n=await this.moveToActive(e,this.opts.name));return n}async rateLimit(e){await this.trace(N.INTERNAL,`rateLimit`,this.name,async t=>{t?.setAttributes({[j.WorkerId]:this.id,[j.WorkerRateLimit]:e}),await this.backend.setRateLimit(e)})}get minimumBlockTimeout(){return this.backend.minimumBlockTimeout}get maximumBlockTimeout(){return this.backend.maximumBlockTimeout??10}isRateLimited(){return this.limitUntil>Date.now()}async moveToActive(e,t){let[n,r,i,a]=await this.backend.moveToActive(e,t);return this.updateDelays(i,a),this.nextJobFromJobData(n,r,e)}async waitForJob(e){if(this.paused)return 1/0;try{if(!this.closing&&!this.isRateLimited()){let t=this.getBlockTimeout(e);if(t>0){this.updateDelays();let n=await this.backend.waitForJob(t);if(n){let t=n.score;return e&&t>e?e:t}}return 0}}catch(e){if(ut(e)&&this.emit(`error`,e),!this.closing)try{await this.backend.reconnectBlocking()}catch(e){ut(e)&&this.emit(`error`,e)}this.closing||await this.delay()}return 1/0}getBlockTimeout(e){let t=this.opts;if(e){let t=e-Date.now();return t<=0?t:t<this.minimumBlockTimeout*1e3?this.minimumBlockTimeout:Math.min(t/1e3,this.maximumBlockTimeout)}return Math.max(t.drainDelay,this.minimumBlockTimeout)}getRateLimitDelay(e){return Math.min(e,this.opts.maximumRateLimitDelay)}async delay(e,t){await et(e||100,t)}updateDelays(e=0,t=0){let n=Math.max(e,0);this.limitUntil=n>0?Date.now()+n:0,this.blockUntil=Math.max(t,0)||0}async nextJobFromJobData(e,t,n){if(!e)this.drained||=(this.emit(`drained`),!0);else{this.drained=!1;let r=this.createJob(e,t);r.token=n;try{let e=await this.retryIfFailed(async()=>{let e=!!r.repeatJobKey,t=e&&mi(r.repeatJobKey),n=e&&!t;return t&&(n=await(await this.jobScheduler).isJobScheduler(r.repeatJobKey)),n&&await(await this.jobScheduler).upsertJobScheduler(r.repeatJobKey,r.opts.repeat,r.name,r.data,r.opts,{override:!1,producerId:r.id}),!t||n},{delayInMs:this.opts.runRetryDelay});if(r.repeatJobKey&&!e){let e=/* @__PURE__ */ Error(`Failed to add repeatable job for next iteration: ${pi(r.repeatJobKey).message}`);this.emit(`error`,e)}}catch(e){let t=e instanceof Error?e.message:String(e),n=/* @__PURE__ */ Error(`Failed to add repeatable job for next iteration: ${t}`);this.emit(`error`,n);return}return this.emit(`active`,r,`waiting`),r}}async processJob(e,t,n=()=>!0){let r=e.opts?.telemetry?.metadata;return this.trace(N.CONSUMER,`process`,this.name,async r=>{r?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name,[j.JobId]:e.id,[j.JobName]:e.name});let i=this.lockManager.trackJob(e.id,t,e.processedOn,this.processorAcceptsSignal);try{let a=this.getUnrecoverableErrorMessage(e);if(a)return await this.retryIfFailed(()=>(this.lockManager.untrackJob(e.id),this.handleFailed(new yt(a),e,t,n,r)),{delayInMs:this.opts.runRetryDelay,span:r});let o=await this.callProcessJob(e,t,i?i.signal:void 0);return await this.retryIfFailed(()=>(this.lockManager.untrackJob(e.id),this.handleCompleted(o,e,t,n,r)),{delayInMs:this.opts.runRetryDelay,span:r})}catch(i){return await this.retryIfFailed(()=>(this.lockManager.untrackJob(e.id),this.handleFailed(i,e,t,n,r)),{delayInMs:this.opts.runRetryDelay,span:r,onlyEmitError:!0})}finally{this.lockManager.untrackJob(e.id);let t=Date.now();r?.setAttributes({[j.JobAttemptFinishedTimestamp]:e.finishedOn||t,[j.JobProcessedTimestamp]:e.processedOn})}},r)}getUnrecoverableErrorMessage(e){if(e.deferredFailure)return e.deferredFailure;if(this.opts.maxStartedAttempts&&this.opts.maxStartedAttempts<e.attemptsStarted)return`job started more than allowable limit`}async handleCompleted(e,t,n,r=()=>!0,i){if(!this.backend.closing){let a=await t.moveToCompleted(e,n,r()&&!(this.closing||this.paused));if(this.emit(`completed`,t,e,`active`),i?.addEvent(`job completed`,{[j.JobResult]:JSON.stringify(e)}),i?.setAttributes({[j.JobAttemptsMade]:t.attemptsMade}),Array.isArray(a)){let[e,t,r,i]=a;return this.updateDelays(r,i),this.nextJobFromJobData(e,t,n)}}}async handleFailed(e,t,n,r=()=>!0,i){if(!this.backend.closing){if(e.message===`bullmq:rateLimitExceeded`){let e=await this.moveLimitedBackToWait(t,n);this.limitUntil=e>0?Date.now()+e:0;return}let a=r()&&!(this.closing||this.paused);if(e instanceof _t||e.name==`DelayedError`||e instanceof xt||e.name==`WaitingError`||e instanceof bt||e.name==`WaitingChildrenError`)return a?this.moveToActive(n,this.opts.name):void 0;let o=await t.moveToFailed(e,n,a);if(this.emit(`failed`,t,e,`active`),i?.addEvent(`job failed`,{[j.JobFailedReason]:e.message}),i?.setAttributes({[j.JobAttemptsMade]:t.attemptsMade}),Array.isArray(o)){let[e,t,r,i]=o;return this.updateDelays(r,i),this.nextJobFromJobData(e,t,n)}}}async pause(e){await this.trace(N.INTERNAL,`pause`,this.name,async t=>{var n;t?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name,[j.WorkerDoNotWaitActive]:e}),this.paused||(this.paused=!0,e||await this.whenCurrentJobsFinished(),this.stalledCheckerGeneration++,(n=this.stalledCheckStopper)==null||n.call(this),this.emit(`paused`))})}async resume(){try{if(!this.running||this.paused){let e=!1;await this.trace(N.INTERNAL,`resume`,this.name,async t=>{var n;t?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name}),this.paused=!1,this.running?(e=!0,(n=this.mainLoopQueue)==null||n.add(Promise.resolve())):this.processFn&&this.run(),this.emit(`resumed`)}),e&&await this.startStalledCheckTimer()}}catch(e){this.emit(`error`,e)}}isPaused(){return!!this.paused}isRunning(){return this.running}async close(e=!1){return this.closing?this.closing:(this.closing=(async()=>{await this.trace(N.INTERNAL,`close`,this.name,async t=>{var n,r;t?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name,[j.WorkerForceClose]:e}),this.emit(`closing`,`closing queue`),(n=this.abortDelayController)==null||n.abort();let i=[()=>e||this.whenCurrentJobsFinished(!1),()=>this.lockManager.close(),()=>this.childPool?.clean(),()=>this.backend.close(e)];for(let e of i)try{await e()}catch(e){this.emit(`error`,e)}(r=this.stalledCheckStopper)==null||r.call(this),this.closed=!0,this.emit(`closed`)})})(),await this.closing)}async startStalledCheckTimer(){var e;if(this.opts.skipStalledCheck||this.closing)return;let t=++this.stalledCheckerGeneration,n=this.stalledCheckerPromise;(e=this.stalledCheckStopper)==null||e.call(this),await this.trace(N.INTERNAL,`startStalledCheckTimer`,this.name,async e=>{e?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name})}),this.closing||t!==this.stalledCheckerGeneration||(this.stalledCheckerPromise=(n?.catch(()=>void 0)??Promise.resolve()).then(()=>{if(!(this.closing||t!==this.stalledCheckerGeneration))return ht(this.opts.telemetry,()=>this.stalledChecker(t))}).catch(e=>{this.emit(`error`,e)}))}async stalledChecker(e){for(;!(this.closing||this.paused)&&e===this.stalledCheckerGeneration&&(await this.checkConnectionError(()=>this.moveStalledJobsToWait()),!(this.closing||this.paused||e!==this.stalledCheckerGeneration));)await new Promise(e=>{let t=setTimeout(e,this.opts.stalledInterval);this.stalledCheckStopper=()=>{clearTimeout(t),e()}})}async whenCurrentJobsFinished(e=!0){this.mainLoopRunning?(await this.backend.disconnectBlocking(!0),await this.mainLoopRunning):e=!1,e&&await this.backend.reconnectBlocking()}async retryIfFailed(e,t){var n;let r=0,i=t.maxRetries??1/0;do try{return await e()}catch(e){if((n=t.span)==null||n.recordException(e.message),ut(e)){if(!this.paused&&!this.closing&&this.emit(`error`,e),t.onlyEmitError)return;throw e}if(this.closing||this.closed){if(t.onlyEmitError)return;throw e}if(t.delayInMs&&!this.closing&&!this.closed&&await this.delay(t.delayInMs,this.abortDelayController),r+1>=i)throw e}while(++r<i)}async moveStalledJobsToWait(){await this.trace(N.INTERNAL,`moveStalledJobsToWait`,this.name,async e=>{let t=await this.backend.moveStalledJobsToWait();e?.setAttributes({[j.WorkerId]:this.id,[j.WorkerName]:this.opts.name,[j.WorkerStalledJobs]:t}),t.forEach(t=>{e?.addEvent(`job stalled`,{[j.JobId]:t}),this.emit(`stalled`,t,`active`)})})}moveLimitedBackToWait(e,t){return e.moveToWait(t)}},Ci;(function(e){e.blocking=`blocking`,e.normal=`normal`})(Ci||={});const wi=`what lies in the queue is not what was written`;var Ti=class{connection;prefix;constructor(e,t){this.connection=e,this.prefix=t}describe(e){return{id:f(),chunks:Math.ceil(e.length/a),bytes:e.length,sha256:Ei(e)}}async put(e,t){for(let[n,r]of this.#e(t.id,t.chunks).entries()){let t=e.subarray(n*a,(n+1)*a);await this.connection.set(r,t,`PX`,o)}}async read(e){let t=[];for(let n of this.#e(e.id,e.chunks)){let e=await this.connection.getrangeBuffer(n,0,a);if(e.length===0)throw new i(`QUEUE`,`a part of it is not in the queue any more`);if(e.length>1048576)throw new i(`QUEUE`,wi);t.push(e)}let n=Buffer.concat(t);if(Ei(n)!==e.sha256)throw new i(`QUEUE`,wi);return n}async remove({id:e,chunks:t}){let n=this.#e(e,t);n.length>0&&await this.connection.unlink(...n)}#e(e,t){return Array.from({length:t},(t,n)=>`${this.prefix}:blob:${e}:${n}`)}};function Ei(e){return d(`sha256`).update(e).digest(`hex`)}export{xt as a,ui as i,Si as n,yt as o,bi as r,_t as s,Ti as t};