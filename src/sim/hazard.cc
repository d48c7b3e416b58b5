// SPDX-License-Identifier: Apache-2.0
#include "hazard.h"

#include <algorithm>

#include "shadow.h"

namespace tvm_ascend::sim {

uint32_t SiteTable::intern(const OpInfo& op, const Variant& variant, const uint8_t* spaces,
                           const char* where) {
  const auto place = reinterpret_cast<uintptr_t>(where);
  const auto row = reinterpret_cast<uintptr_t>(&variant);
  std::string key(reinterpret_cast<const char*>(&place), sizeof(place));
  key.append(reinterpret_cast<const char*>(&row), sizeof(row));
  key.append(reinterpret_cast<const char*>(spaces), op.n_operands);
  auto [at, fresh] = known_.emplace(key, static_cast<uint32_t>(sites_.size()));
  if (!fresh) return at->second;
  if (sites_.size() > Stamp::kMaxSites)
    throw InputError("the twin has more statements than the simulator can name");
  Site site;
  site.op = &op;
  site.variant = &variant;
  for (int i = 0; i < op.n_operands; ++i) site.spaces[i] = static_cast<Space>(spaces[i]);
  site.text = std::string("AscendC::") + op.name;
  if (where != nullptr) site.where = where;
  sites_.push_back(std::move(site));
  return at->second;
}

std::string SiteTable::describe(int64_t index) const {
  if (index < 0) return "nothing";
  const Site& site = sites_[static_cast<size_t>(index)];
  return "`" + site.text + "`" + (site.where.empty() ? "" : " (" + site.where + ")");
}

bool HazardLog::add(Hazard hazard) {
  auto same = [&](const Hazard& known) {
    return known.kind == hazard.kind && known.first.site == hazard.first.site &&
           known.second.site == hazard.second.site && known.at.site == hazard.at.site;
  };
  const bool known = std::any_of(all_.begin(), all_.end(), same);
  if (!known && static_cast<int>(all_.size()) < std::max(1, options_.max_hazards))
    all_.push_back(std::move(hazard));
  return !options_.strict;
}

}  // namespace tvm_ascend::sim
