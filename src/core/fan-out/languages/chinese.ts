/**
 * Patterns for Chinese prompts. Chinese has no spaces between words, so the characters around a word are not checked.
 */
import {PATH, type PromptLanguage} from './language.ts';

const ALL = '(?:所有|全部|每一?[个份处条]|各个|一切)(?:的)?';
const BETWEEN = '[^，。；！？,;!?]{0,12}?';
const FILES = `文件|源码|源代码|代码文件|${PATH}`;
const CODE =
  '函数|方法|类|模块|组件|接口|结构体|枚举|测试|导入|注释|变量|常量|脚本|路由|服务|模型|视图|模板|调用|引用|标识符|命令|工具|包';
const CHANGES =
  '重构|修改|添加|增加|加上|加入|更新|修复|修正|替换|重命名|改名|改为|改成|更改|转换|转成|迁移|删除|移除|去掉|优化|格式化|翻译|重写|实现|清理|' +
  '补充|补全|统一|升级|简化|改进|完善|规范|整理|合并|拆分|使用|写|编写|生成|改';
const CHECKS = '检查|审查|审核|审计|分析|校对|验证|评审';
const READS = '解释|列出|查找|显示|说明|介绍|统计|总结|描述|找出|找到|搜索|告诉|读取|阅读|看看|打印|比较';

export const chinese: PromptLanguage = {
  quantified: {
    files: new RegExp(`${ALL}${BETWEEN}(?:${FILES})`, 'u'),
    code: new RegExp(`${ALL}${BETWEEN}(?:${CODE})`, 'u'),
  },
  changes: new RegExp(`(?<!不要|不用|别|勿)(?:${CHANGES})`, 'u'),
  checks: new RegExp(CHECKS, 'u'),
  reads: new RegExp(`^(?:请|帮我|请帮我|麻烦)?(?:${READS})`, 'u'),
  thenChanges: new RegExp(`(?:并且?|然后|再|，)(?:${CHANGES})`, 'u'),
  handles: new RegExp(
    `^(?:请|帮我)?(?:删除|移动|复制|提交|运行|执行|打开|关闭|下载|上传|列出|安装)${ALL}${BETWEEN}(?:${FILES}|测试|脚本|命令|包)(?!里|中|内|的|上)`,
    'u',
  ),
  asks: /为什么|为何|怎么(?!都)|怎样|如何|什么|哪些|哪个|多少|是否|是不是|有没有|谁|几个|吗|呢[?？]?$/u,
  requests: /^(?:你)?(?:能不能|可不可以|能否|可以|能|可否|请|帮我|麻烦)/u,
  wishes: new RegExp(`(?:让|使|确保|保证|令|希望|直到)[^。；！？]*${ALL}[^。；！？]*(?:通过|成功|工作|运行|编译)`, 'u'),
  aside: /(?:这个|当前|本|该)(?:文件|函数|类|模块)(?:里|中|内|的)/u,
};
