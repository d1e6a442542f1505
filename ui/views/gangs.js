// SPDX-License-Identifier: Apache-2.0
// All gangs, by state.

import {count} from "../format.js";
import {bar, gangLink, stateBadge} from "../parts.js";
import {openList} from "./list.js";
import {columns} from "./waiting.js";

const state = {id: "state", title: "State", sorts: true, show: (gang) => stateBadge(gang.state)};
const members = {id: "members.wide", title: "Members", sorts: true, show: ({members: all, bound, finished, group}) =>
  group === "ending" && finished > 0 ? `${finished} of ${all} finished` :
    bar(bound, all, `${bound} of ${all}`, {tone: group === "whole" ? "good" : group === "waiting" ? "warn" : undefined})};
const why = {...columns.message, show: (gang) => columns.message.show({...gang, short: [], never: false})};

export function open(root, context) {
  return openList(root, context, {
    title: "Gangs",
    sort: "gang",
    groups: [["", "all"], ["waiting", "waiting"], ["starting", "starting"], ["whole", "whole"], ["ending", "ending"]],
    columns: [{...columns.gang, show: gangLink}, state, columns.queue, columns.priority, members, why, columns.since],
    empty: "There is no gang.",
    summary: ({total}) => `${count(total)} ${total === 1 ? "gang" : "gangs"}`,
  });
}
