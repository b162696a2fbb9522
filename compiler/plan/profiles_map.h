/*
 * profiles.map: from what HAProxy says about a decision to the id of the grant
 * or denial behind it. Written by compiler/emit/gate/gate_maps.c, read by
 * runtime/gate/plan/profiles.c.
 *
 *	membrane-profiles 1
 *	TOKEN PATTERN ID
 *
 * TOKEN is a profile ("3"), a denial ("d2") or a credential ("c1"), PATTERN a
 * name as in names.map, or a network, ID "-" where there is none. The first
 * line that has the token and matches the name, or the address, tells the id.
 */
#ifndef COMPILER_PLAN_PROFILES_MAP_H
#define COMPILER_PLAN_PROFILES_MAP_H

#define PROFILES_MAP_HEAD "membrane-profiles 1"

#endif
